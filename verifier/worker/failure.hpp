// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <stdexcept>

#include <core/command/exit_codes.hpp>

namespace assay::worker {

/// The arguments are wrong in a way that the parser of the command line cannot see.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A file that an argument names is wrong.
class FileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Returns the exit code of a worker that `error` ended (docs/operations/exit-codes.md).
command::ExitCode exit_code_of(const std::exception& error);

}  // namespace assay::worker
