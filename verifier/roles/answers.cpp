// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/answers.hpp>

#include <algorithm>
#include <utility>

#include <contracts/state/members.hpp>
#include <core/crypto/keys.hpp>
#include <core/dispute/accuser.hpp>

namespace assay::roles {
namespace {

bool is_of_claim(const contracts::Dispute& dispute) {
    return std::holds_alternative<contracts::SolverClaim>(dispute.subject);
}

}  // namespace

std::set<contracts::DisputeId> answered(const std::vector<contracts::Dispute>& open) {
    std::set<contracts::DisputeId> out;
    for (const contracts::Dispute& dispute : open) {
        const contracts::Accusation* accusation = dispute.accusation();
        if (accusation != nullptr && accusation->answers) {
            out.insert(*accusation->answers);
        }
    }
    // All disputes of a claim stand still when one of them is answered.
    std::set<std::pair<contracts::TaskId, std::uint32_t>> claims;
    for (const contracts::Dispute& dispute : open) {
        if (is_of_claim(dispute) && out.contains(dispute.id)) {
            claims.emplace(dispute.task, dispute.segment);
        }
    }
    for (const contracts::Dispute& dispute : open) {
        if (is_of_claim(dispute) && claims.contains({dispute.task, dispute.segment})) {
            out.insert(dispute.id);
        }
    }
    return out;
}

bool may_answer(const contracts::Task& task, const contracts::Dispute& dispute, const AccountId& self) {
    if (!task.group || !task.group->is_together || dispute.claim.initialisation || dispute.position.is_at_proof()) {
        return false;
    }
    const bool is_own_claim =
        is_of_claim(dispute) && dispute.responder == self && dispute.segment <= contracts::segment_count(task.spec);
    const bool is_own_statement = dispute.accusation() != nullptr && dispute.challenger == self;
    return is_own_claim || is_own_statement;
}

dispute::Claim replayed_claim(const contracts::Dispute& dispute) {
    dispute::Claim out = dispute.claim;
    out.trace.reset();
    return out;
}

bool has_to_answer(const contracts::Dispute& dispute, dispute::Replay& replay) {
    const auto diverged = replay.diverged_at();
    if (const contracts::Accusation* accusation = dispute.accusation()) {
        const bool has_own = !diverged || accusation->step <= *diverged;  // nothing is true behind it
        return !has_own || dispute::own_values(replayed_claim(dispute), accusation->step, accusation->piece, replay) !=
                               accusation->piece.values;
    }
    if (diverged) {
        return true;
    }
    const dispute::Claim& claim = dispute.claim;
    return replay.state_root_after(claim.first_step + claim.step_count - 1) != claim.after;
}

std::optional<contracts::Accuse> accuse(
    const contracts::Task& task, const std::string& chain_id, const AccountId& self, const dispute::Claim& segment,
    const TheirStatement& wrong, dispute::Replay& replay
) {
    const Hash256 digest = dispute::statement_digest(chain_id, wrong.stated.statement);
    std::vector<AccountId> members{task.solver.value()};
    for (const contracts::Partner& partner : task.group.value().partners) {
        members.push_back(partner.account);
    }
    const auto author = std::find_if(members.begin(), members.end(), [&](const AccountId& member) {
        return crypto::verify_signature(member, digest.view(), wrong.signature);
    });
    if (author == members.end() || *author == self) {
        return std::nullopt;
    }
    return contracts::Accuse{
        .task = task.id,
        .member = *author,
        .signature = wrong.signature,
        .contradiction = dispute::make_contradiction(segment, wrong.stated, replay)};
}

std::optional<contracts::Accuse> answer(
    const contracts::Task& task, const contracts::Dispute& dispute, const std::string& chain_id, const AccountId& self,
    const TheirStatement& wrong, dispute::Replay& replay
) {
    const contracts::Accusation* accusation = dispute.accusation();
    const bool is_late = accusation != nullptr && dispute::order_of(wrong.stated.statement.step, wrong.stated.piece) >=
                                                      dispute::order_of(accusation->step, accusation->piece);
    if (is_late) {
        return std::nullopt;
    }
    auto out = accuse(task, chain_id, self, replayed_claim(dispute), wrong, replay);
    if (out) {
        out->answers = dispute.id;
    }
    return out;
}

}  // namespace assay::roles
