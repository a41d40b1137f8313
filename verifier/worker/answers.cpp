// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/answers.hpp>

#include <verifier/group/first_wrong.hpp>
#include <verifier/roles/answers.hpp>
#include <verifier/worker/told.hpp>

namespace assay::worker {

bool Answers::may_answer(const contracts::Task& task, const contracts::Dispute& dispute) const {
    return !own_.contains(dispute.id) && roles::may_answer(task, dispute, context_.chain.self());
}

std::optional<contracts::Accuse> Answers::find(
    const contracts::Task& task, const contracts::Dispute& dispute, EngineReplay& replay
) {
    const auto wrong =
        roles::has_to_answer(dispute, replay)
            ? group::find_first_wrong(
                  *context_.statements->of(task.id), roles::replayed_claim(dispute), replay, collecting(replay)
              )
            : std::nullopt;
    auto out = wrong ? roles::answer(
                           task, dispute, context_.chain.chain_id(), context_.chain.self(),
                           {.stated = wrong->stated, .signature = wrong->signature}, replay
                       )
                     : std::nullopt;
    if (!out) {
        own_.insert(dispute.id);
    }
    return out;
}

group::Collecting collecting(EngineReplay& replay) {
    return {.collect = [&replay](std::uint64_t step, const std::set<std::uint32_t>& nodes) {
        replay.collect(step, nodes);
    }};
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
