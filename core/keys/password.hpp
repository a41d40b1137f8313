// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <core/keys/private_file.hpp>

namespace assay::crypto {

/// Where a password comes from: a file's first line, an environment variable, or the terminal without echo.
struct PasswordSource {
    std::string file;      ///< empty: none
    std::string variable;  ///< "ASSAY_PASSWORD"
    std::string prompt;    ///< "Password for alice"
    bool twice = false;    ///< a new one: asked for twice on a terminal
};

/// There is no password to be had; the message says what to do.
class PasswordError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The password. Throws PasswordError when there is none, when the two that were typed differ, after Ctrl-C, and when the file
/// cannot be read or others can read it. The variable is overwritten in this process.
SecretText read_password(const PasswordSource& source);

}  // namespace assay::crypto
