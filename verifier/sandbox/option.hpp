// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace assay::sandbox {

/// Adds --sandbox, or $ASSAY_SANDBOX, which sets the mode, and --sandbox-limits, which multiplies the limits.
void add_option(CLI::App& app);

/// What a program says that runs without it.
inline constexpr const char* kOffWarning =
    "the sandbox is off (--sandbox off or ASSAY_SANDBOX): files that strangers wrote are parsed in this process, with "
    "all that it may read and reach";
/// What to do where it does not work.
inline constexpr const char* kAdvice =
    "install assay-parser beside this program, on a kernel with seccomp; --sandbox off goes without, and trusts every "
    "file";

}  // namespace assay::sandbox
