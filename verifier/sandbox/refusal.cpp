// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/refusal.hpp>

#include <algorithm>
#include <atomic>

#include <verifier/sandbox/limits.hpp>

namespace assay::sandbox {
namespace {

std::atomic<std::uint32_t> limits_factor{1};

const char* text_of(RefusalKind kind) noexcept {
    switch (kind) {
        case RefusalKind::kCrashed:
            return "its parser crashed in the sandbox";
        case RefusalKind::kTooSlow:
            return "its parser took longer than it may";
        case RefusalKind::kMemory:
            return "its parser needed more memory than it may have";
        case RefusalKind::kOpenedFile:
            return "its parser tried to open a file and was stopped";
        case RefusalKind::kOpenedSocket:
            return "its parser tried to reach the network and was stopped";
        case RefusalKind::kForbidden:
            return "its parser made a system call that parsing does not need and was stopped";
        case RefusalKind::kOutputTooLong:
            return "its parser wrote a longer answer than it may";
        case RefusalKind::kGarbage:
            return "its parser gave an answer that contradicts the file or has no sense";
        case RefusalKind::kNotStarted:
            return "the sandbox could not be started";
    }
    return "";
}

}  // namespace

const char* name_of(RefusalKind kind) noexcept {
    switch (kind) {
        case RefusalKind::kCrashed:
            return "crashed";
        case RefusalKind::kTooSlow:
            return "too_slow";
        case RefusalKind::kMemory:
            return "memory";
        case RefusalKind::kOpenedFile:
            return "opened_file";
        case RefusalKind::kOpenedSocket:
            return "opened_socket";
        case RefusalKind::kForbidden:
            return "forbidden";
        case RefusalKind::kOutputTooLong:
            return "output_too_long";
        case RefusalKind::kGarbage:
            return "garbage";
        case RefusalKind::kNotStarted:
            return "not_started";
    }
    return "";
}

Refusal make_refusal(RefusalKind kind, const std::string& detail) {
    std::string message = text_of(kind);
    if (!detail.empty()) {
        message += ": " + detail;
    }
    return {.kind = kind, .message = std::move(message)};
}

bool may_pass_later(const Refusal& refusal) noexcept {
    return refusal.kind == RefusalKind::kNotStarted || refusal.kind == RefusalKind::kTooSlow ||
           refusal.kind == RefusalKind::kMemory;
}

void set_limits_factor(std::uint32_t factor) noexcept { limits_factor = std::max(factor, 1U); }

Limits limits_for(std::uint64_t input_bytes, std::uint32_t factor) {
    constexpr std::uint64_t kInputMax = std::uint64_t{1} << 40U;  // keeps what follows within its types
    const std::uint64_t input = std::min(input_bytes, kInputMax);
    Limits out;
    out.memory_bytes += input * factor;
    out.output_bytes += input * factor;
    out.cpu_s += static_cast<std::uint32_t>(input >> 20U);
    const std::uint32_t times = limits_factor;
    out.memory_bytes *= times;
    out.cpu_s *= times;
    out.deadline = std::chrono::seconds(4 * std::uint64_t{out.cpu_s});
    return out;
}

}  // namespace assay::sandbox
