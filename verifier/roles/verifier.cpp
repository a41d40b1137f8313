// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/verifier.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::roles {
namespace {

using contracts::VerdictStatus;

/// Which of a verdict's two secrets.
enum class VerdictPartName : std::uint8_t { kDecoyRoot = 1, kSalt = 2 };

struct VerdictSecretName {
    std::string chain_id;
    TaskId task;
    std::uint32_t place = 0;
    std::uint32_t offset = 0;
    std::uint8_t part = 0;
    static constexpr auto fields() {
        return Fields<
            &VerdictSecretName::chain_id, &VerdictSecretName::task, &VerdictSecretName::place,
            &VerdictSecretName::offset, &VerdictSecretName::part>{};
    }
};

/// What is done about an opening that is owed and not on the disk: a replay gives it again, if anything does.
Intent decide_lost(const VerifierView& view) {
    const bool is_replayed = view.replays.first || view.replays.unable;
    return is_replayed ? Intent{Wait::kUnable} : Intent{intent::Replay{view.task.id, view.assignment.segment}};
}

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
    if (!view.has_kept_verdict) {
        return decide_lost(view);
    }
    if (view.task.state != contracts::TaskState::kDisclosure && !view.is_challenged) {
        return Wait::kNothingDue;
    }
    return intent::Disclose{view.task.id, view.assignment.segment};
}

Intent decide_publication(const VerifierView& view) {
    if (!view.has_kept_verdict) {
        return decide_lost(view);
    }
    if (view.task.lottery.is_zero()) {
        return Wait::kOtherParty;  // somebody has to commit, or to contribute to the round that draws it (VER-10)
    }
    return intent::Publish{view.task.id, view.assignment.segment};
}

}  // namespace

VerdictSecrets verdict_secrets(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::TaskId& task, std::uint32_t place,
    const contracts::Assignment& assignment
) {
    static const crypto::TaggedHash kTag("assay/verdict-secrets");
    const auto secret = [&](VerdictPartName part) {
        const VerdictSecretName name{chain_id, task, place, assignment.offset, static_cast<std::uint8_t>(part)};
        return kTag(ByteView(key.bytes()), codec::encode(name));
    };
    return {.decoy_root = secret(VerdictPartName::kDecoyRoot), .salt = secret(VerdictPartName::kSalt)};
}

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
