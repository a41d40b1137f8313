// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/integers.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a verifier knows about one of its assignments.
struct VerifierView {
    contracts::Task task;
    contracts::Assignment assignment;
    Hash256 claimed;  ///< state root that the solver claims after the segment
    Replays replays;
    bool has_kept_verdict = false;  ///< the opening of our commitment is on our disk
    bool is_challenged = false;     ///< our verdict was challenged, and the next block may disclose it (DSP-42)
    bool is_breaker_open = false;
};

/// What an account knows about a task with a committee.
struct MemberView {
    contracts::Task task;
    AccountId self;
    bool is_breaker_open = false;
};
/// Returns Attest for a member of the current committee that has not attested yet (AVL-3), unless its circuit breaker
/// is open: whoever attests may be drawn for the replay.
Intent decide_member(const MemberView& view);

/// Whether the kept opening can be published for the assignment: nothing is committed yet, or it opens the commitment.
/// After disk loss it may not; publishing another opening costs the whole bond (VER-14), publishing none a tenth
/// (VER-5).
bool is_opening_of(
    const contracts::Assignment& assignment, const contracts::TaskId& task, const contracts::VerdictOpening& kept
);

/// Returns the next action for the assignment: replay before committing, twice before rejecting, since the assignment's
/// reserve backs the dispute (DSP-46); publish once all commitments of the task are in; disclose after the challenge
/// window, or half a window after a challenge.
Intent decide_verifier(const VerifierView& view);

}  // namespace assay::roles
