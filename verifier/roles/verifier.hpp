// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/integers.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a verifier knows of one of its assignments.
struct VerifierView {
    contracts::Task task;
    contracts::Assignment assignment;
    Hash256 claimed;           ///< the solver's state root after the segment
    Replays replays;
    bool has_kept_verdict = false;  ///< what our commitment opens to is on our disk
    bool is_challenged = false;     ///< our verdict was challenged, and the next block may disclose it (DSP-42)
    bool is_breaker_open = false;
};

/// What somebody knows of a task with a committee.
struct MemberView {
    contracts::Task task;
    AccountId self;
    bool is_breaker_open = false;
};
/// A member of the committee that sits attests once (AVL-3), unless it could not take the replay that it may owe then.
Intent decide_member(const MemberView& view);

/// Whether what was kept can be published for the assignment: nothing is committed yet, or it is what the commitment
/// opens to. After a lost disk it may not be, and to publish something else costs the whole bond (VER-14), to publish
/// nothing a tenth (VER-5).
bool is_opening_of(
    const contracts::Assignment& assignment, const contracts::TaskId& task, const contracts::VerdictOpening& kept
);

/// Replays before it commits, twice before it rejects, which its assignment answers for (DSP-46); publishes when every
/// commitment of the task is in; discloses when the challenge window is over, or half of one after it is challenged.
Intent decide_verifier(const VerifierView& view);

}  // namespace assay::roles
