// SPDX-License-Identifier: Apache-2.0
#include <contracts/settlement/fees.hpp>

#include <contracts/state/dispute.hpp>
#include <contracts/state/slots.hpp>

namespace assay::contracts {

bool has_earned_fee(
    const StateView& view, const Task& task, const Assignment& assignment, const std::optional<std::uint32_t>& refuted
) {
    // SET-6
    const auto own_dispute = [&] {
        return find_dispute(view, dispute_id(task.id, assignment.segment, assignment.verifier));
    };
    switch (assignment.status) {
        case VerdictStatus::kAccepted:
            return refuted != assignment.segment;
        case VerdictStatus::kRejected: {
            if (!is_exact(task, assignment.segment)) {
                return true;
            }
            const auto dispute = own_dispute();
            return dispute && dispute->state() != DisputeState::kUpheld;
        }
        case VerdictStatus::kDropped: {
            // GRP-7: a verdict with a dispute of its own rejected the segment.
            const auto dispute = own_dispute();
            return dispute ? dispute->state() != DisputeState::kUpheld : refuted != assignment.segment;
        }
        default:
            return false;
    }
}

}  // namespace assay::contracts
