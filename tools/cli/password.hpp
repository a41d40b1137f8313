// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/crypto/private_file.hpp>

namespace assay::cli {

/// Where a password comes from: a file's first line, an environment variable, or the terminal without echo.
struct PasswordSource {
    std::string file;      ///< empty: none
    std::string variable;  ///< "ASSAY_PASSWORD"
    std::string prompt;    ///< "Password for alice"
    bool twice = false;    ///< a new one: asked for twice on a terminal
};

/// Throws Failure when there is none, when the two do not agree, or when the file cannot be read or others can read it. The
/// variable is overwritten in this process.
crypto::SecretText read_password(const PasswordSource& source);

}  // namespace assay::cli
