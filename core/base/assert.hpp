// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay {

/// Prints `expression`, `file` and `line` to stderr and aborts. Called by ASSERT only.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace assay

/// Aborts the process if an internal invariant is violated, in every build. Must not be used to check external data.
#define ASSERT(condition) \
    ((condition) ? static_cast<void>(0) : ::assay::assertion_failed(#condition, __FILE__, __LINE__))
