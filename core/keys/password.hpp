// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <core/keys/private_file.hpp>

namespace assay::crypto {

/// Where to read a password: the first line of a file, an environment variable, or the terminal without echo; tried in
/// this order.
struct PasswordSource {
    std::string file;      ///< path; empty: not from a file
    std::string variable;  ///< name, such as "ASSAY_PASSWORD"
    std::string prompt;    ///< such as "Password for alice"
    bool twice = false;    ///< for a new password: asks twice on a terminal
};

/// No password could be read; the message says why and what to do.
class PasswordError : public std::runtime_error {
  public:
    enum class Reason : std::uint8_t {
        kFile = 1,         ///< the file cannot be read, or others can read it
        kNoTerminal = 2,   ///< there is no terminal to ask on
        kTerminal = 3,     ///< writing to the terminal failed
        kDifferent = 4,    ///< the two that were typed differ
        kInterrupted = 5,  ///< Ctrl-C
    };
    PasswordError(Reason why, const std::string& message) : std::runtime_error(message), reason(why) {}
    Reason reason;
};

/// Reads the password. Throws PasswordError if there is none, if the two typed passwords differ, after Ctrl-C, or if
/// the file cannot be read or others can read it. The environment variable is overwritten and removed in this process.
SecretText read_password(const PasswordSource& source);

}  // namespace assay::crypto
