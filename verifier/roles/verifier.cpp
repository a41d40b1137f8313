// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/verifier.hpp>

namespace assay::roles {
namespace {

using contracts::VerdictStatus;

Intent decide_verdict(const VerifierView& view) {
    const std::uint32_t segment = view.assignment.segment;
    if (view.is_breaker_open) {
        return Wait::kBreaker;
    }
    if (view.has_kept_verdict) {
        return intent::Commit{view.task.id, segment};
    }
    switch (finding_of(view.replays, view.claimed)) {
        case Finding::kUnknown:
        case Finding::kDoubt:
        case Finding::kMissing:
            return intent::Replay{view.task.id, segment};
        case Finding::kAccept:
        case Finding::kReject:
            return intent::Commit{view.task.id, segment};
        case Finding::kUnable:
            return Wait::kUnable;
    }
    return Wait::kNothingDue;
}

Intent decide_disclosure(const VerifierView& view) {
    if (view.task.state != contracts::TaskState::kDisclosure && !view.is_challenged) {
        return Wait::kNothingDue;
    }
    if (!view.has_kept_verdict) {
        return Wait::kUnable;
    }
    return intent::Disclose{view.task.id, view.assignment.segment};
}

Intent decide_publication(const VerifierView& view) {
    if (view.task.lottery.is_zero()) {
        return Wait::kOtherParty;  // somebody has to commit, or to contribute to the round that draws it (VER-10)
    }
    if (!view.has_kept_verdict) {
        return Wait::kUnable;
    }
    return intent::Publish{view.task.id, view.assignment.segment};
}

}  // namespace

bool is_opening_of(
    const contracts::Assignment& assignment, const contracts::TaskId& task, const contracts::VerdictOpening& kept
) {
    return assignment.status == VerdictStatus::kDue ||
           contracts::verdict_commitment(task, assignment.segment, assignment.verifier, kept) == assignment.commitment;
}

Intent decide_member(const MemberView& view) {
    if (!contracts::is_sitting(view.task)) {
        return Wait::kNothingDue;
    }
    for (const contracts::CommitteeMember& member : view.task.committee->members) {
        if (member.account == view.self && !member.has_attested) {
            return view.is_breaker_open ? Intent{Wait::kBreaker} : Intent{intent::Attest{view.task.id}};
        }
    }
    return Wait::kNothingDue;
}

Intent decide_verifier(const VerifierView& view) {
    if (contracts::is_secret(view.assignment) && !contracts::is_terminal(view.task.state)) {
        return decide_disclosure(view);
    }
    if (view.task.state != contracts::TaskState::kVerifying) {
        return Wait::kNothingDue;
    }
    switch (view.assignment.status) {
        case VerdictStatus::kDue:
            return decide_verdict(view);
        case VerdictStatus::kCommitted:
            return decide_publication(view);
        default:
            return Wait::kNothingDue;
    }
}

}  // namespace assay::roles
