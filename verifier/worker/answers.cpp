// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/answers.hpp>

#include <algorithm>

#include <contracts/state/members.hpp>
#include <core/dispute/accuser.hpp>
#include <verifier/worker/told.hpp>

namespace assay::worker {

std::set<contracts::DisputeId> answered(const std::vector<contracts::Dispute>& open) {
    std::set<contracts::DisputeId> out;
    for (const contracts::Dispute& dispute : open) {
        const contracts::Accusation* accusation = dispute.accusation();
        if (accusation != nullptr && accusation->answers) {
            out.insert(*accusation->answers);
        }
    }
    // All disputes of a claim stand still when one of them is answered.
    const auto is_claims = [](const contracts::Dispute& dispute) {
        return std::holds_alternative<contracts::SolverClaim>(dispute.subject);
    };
    std::set<std::pair<contracts::TaskId, std::uint32_t>> claims;
    for (const contracts::Dispute& dispute : open) {
        if (is_claims(dispute) && out.contains(dispute.id)) {
            claims.emplace(dispute.task, dispute.segment);
        }
    }
    for (const contracts::Dispute& dispute : open) {
        if (is_claims(dispute) && claims.contains({dispute.task, dispute.segment})) {
            out.insert(dispute.id);
        }
    }
    return out;
}

bool Answers::may_answer(const contracts::Task& task, const contracts::Dispute& dispute) const {
    if (!task.group || !task.group->is_together || dispute.claim.initialisation || own_.contains(dispute.id) ||
        dispute.position.is_at_proof()) {
        return false;
    }
    const AccountId& self = context_.chain.self();
    const bool is_own_claim = std::holds_alternative<contracts::SolverClaim>(dispute.subject) &&
                              dispute.responder == self && dispute.segment <= contracts::segment_count(task.spec);
    const bool is_own_statement = dispute.accusation() != nullptr && dispute.challenger == self;
    return is_own_claim || is_own_statement;
}

std::optional<contracts::Accuse> Answers::find(
    const contracts::Task& task, const contracts::Dispute& dispute, EngineReplay& replay
) {
    dispute::Claim segment = dispute.claim;
    segment.trace.reset();
    const auto wrong = group::find_first_wrong(*context_.statements->of(task.id), segment, replay);
    const contracts::Accusation* accusation = dispute.accusation();
    const auto order = [](std::uint64_t step, const dispute::Piece& piece) { return dispute::order_of(step, piece); };
    const bool is_late =
        wrong && accusation != nullptr &&
        order(wrong->stated.statement.step, wrong->stated.piece) >= order(accusation->step, accusation->piece);
    if (!wrong || is_late) {
        own_.insert(dispute.id);
        return std::nullopt;
    }
    auto accusation_of_another =
        accuse(task, context_.chain.chain_id(), context_.chain.self(), segment, *wrong, replay);
    if (!accusation_of_another) {
        own_.insert(dispute.id);
        return std::nullopt;
    }
    accusation_of_another->answers = dispute.id;
    return accusation_of_another;
}

std::optional<contracts::Accuse> accuse(
    const contracts::Task& task, const std::string& chain_id, const AccountId& self, const dispute::Claim& segment,
    const group::WrongPiece& wrong, dispute::Replay& replay
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

nlohmann::ordered_json event_of(const contracts::Accuse& accuse, std::uint32_t segment) {
    const dispute::Piece& piece = accuse.contradiction.stated.piece;
    return {
        {"event", "accuse"},
        {"task", to_hex(accuse.task.view())},
        {"segment", segment},
        {"step", accuse.contradiction.stated.statement.step},
        {"member", to_hex(accuse.member.view())},
        {"answers", accuse.answers ? to_hex(accuse.answers->view()) : std::string()},
        {"source", piece.source == canonical::Source::kNode ? "node" : "state"},
        {"index", piece.index},
        {"part", piece.part.has_value()},
        {"row", piece.row},
        {"col", piece.col}};
}

}  // namespace assay::worker
