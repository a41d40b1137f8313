// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/options.hpp>

namespace assay::worker {
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
