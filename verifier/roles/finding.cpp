// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/finding.hpp>

namespace assay::roles {

Finding finding_of(const Replays& replays, const Hash256& claimed) noexcept {
    if (replays.unable) {
        return Finding::kUnable;
    }
    if (replays.first == claimed) {
        return Finding::kAccept;
    }
    if (replays.first && replays.second) {
        return replays.first == replays.second ? Finding::kReject : Finding::kUnable;
    }
    if (replays.missing_checkpoint) {
        return Finding::kMissing;
    }
    return replays.first ? Finding::kDoubt : Finding::kUnknown;
}

}  // namespace assay::roles
