// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace assay::sandbox {

/// How a parser in the sandbox ended without an answer. It says nothing about what the chain's rules think of the
/// bytes: whoever gets one cannot use the file, and does not know whether it is valid.
enum class [[nodiscard]] RefusalKind : std::uint8_t{
    kCrashed = 1,        ///< a signal, or a failed assertion
    kTooSlow = 2,        ///< it used up its CPU time, or did not end by the deadline
    kMemory = 3,         ///< it asked for more memory than it may have
    kOpenedFile = 4,     ///< it tried to open a file
    kOpenedSocket = 5,   ///< it tried to reach the network
    kForbidden = 6,      ///< any other system call that parsing does not need
    kOutputTooLong = 7,  ///< it wrote more than it may
    kGarbage = 8,        ///< its answer does not decode, or contradicts the file
    kNotStarted = 9,     ///< our trouble: the program or the means to restrict it are missing
};
/// The name used in reports, such as "too_slow".
const char* name_of(RefusalKind kind) noexcept;

struct Refusal {
    RefusalKind kind = RefusalKind::kCrashed;
    std::string message;  ///< what happened, for people; of kNotStarted also what to do
};
/// Makes a refusal with the message of its kind, followed by `detail`.
Refusal make_refusal(RefusalKind kind, const std::string& detail = {});

/// Whether the same file may well be parsed at another time: the reason can lie in this machine.
bool may_pass_later(const Refusal& refusal) noexcept;

}  // namespace assay::sandbox
