// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/options.hpp>

#include <array>
#include <utility>

namespace assay::worker {
namespace {

constexpr std::array<std::pair<Dishonesty, const char*>, 20> kNames{
    {{Dishonesty::kNone, "none"},
     {Dishonesty::kTile, "tile"},
     {Dishonesty::kSkip, "skip"},
     {Dishonesty::kData, "data"},
     {Dishonesty::kInit, "init"},
     {Dishonesty::kOptimizer, "optimizer"},
     {Dishonesty::kWithhold, "withhold"},
     {Dishonesty::kFalseAccuser, "false-accuser"},
     {Dishonesty::kLazy, "lazy"},
     {Dishonesty::kCopycat, "copycat"},
     {Dishonesty::kReject, "reject"},
     {Dishonesty::kPush, "push"},
     {Dishonesty::kInflate, "inflate"},
     {Dishonesty::kMisprofile, "misprofile"},
     {Dishonesty::kScore, "score"},
     {Dishonesty::kFreeRider, "free-rider"},
     {Dishonesty::kInsider, "insider"},
     {Dishonesty::kDivergence, "divergence"},
     {Dishonesty::kWithholdAll, "withhold-all"},
     {Dishonesty::kPrivate, "private"}}};

}  // namespace

const char* to_string(Dishonesty kind) noexcept {
    for (const auto& [value, name] : kNames) {
        if (value == kind) {
            return name;
        }
    }
    return "";
}

std::optional<Dishonesty> decode_dishonesty(const std::string& name) {
    for (const auto& [value, known] : kNames) {
        if (name == known) {
            return value;
        }
    }
    return std::nullopt;
}

const char* to_string(Mode mode) noexcept {
    switch (mode) {
        case Mode::kSolve:
            return "solve";
        case Mode::kVerify:
            return "verify";
        case Mode::kWhistleblow:
            return "whistleblow";
        case Mode::kServe:
            return "serve";
    }
    return "";
}

contracts::Role role_of(Mode mode) noexcept {
    switch (mode) {
        case Mode::kVerify:
            return contracts::Role::kVerifier;
        case Mode::kWhistleblow:
            return contracts::Role::kWhistleblower;
        default:
            return contracts::Role::kSolver;
    }
}

}  // namespace assay::worker
