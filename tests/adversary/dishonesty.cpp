// SPDX-License-Identifier: Apache-2.0
#include <tests/adversary/dishonesty.hpp>

#include <array>
#include <utility>

namespace assay::adversary {
namespace {

constexpr std::array<std::pair<Dishonesty, const char*>, 26> kNames{
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
     {Dishonesty::kPrivate, "private"},
     {Dishonesty::kStale, "stale"},
     {Dishonesty::kOuter, "outer"},
     {Dishonesty::kFold, "fold"},
     {Dishonesty::kWrongKeys, "wrong-keys"},
     {Dishonesty::kKeysWithheld, "keys-withheld"},
     {Dishonesty::kWrongChunk, "wrong-chunk"}}};

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

std::vector<std::string> dishonesties_of(worker::Mode mode) {
    switch (mode) {
        case worker::Mode::kSolve:
            return {"none",     "tile", "skip",       "data",          "init",       "optimizer",
                    "withhold", "push", "score",      "withhold-all",  "private",    "stale",
                    "outer",    "fold", "wrong-keys", "keys-withheld", "wrong-chunk"};
        case worker::Mode::kVerify:
            return {"none", "lazy", "copycat", "reject", "inflate", "misprofile", "divergence"};
        case worker::Mode::kWhistleblow:
            return {"none", "false-accuser", "free-rider", "insider"};
        case worker::Mode::kServe:
            break;
    }
    return {};
}

}  // namespace assay::adversary
