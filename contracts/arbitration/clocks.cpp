// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <contracts/arbitration/ending.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>

/// The time that parties to a dispute have (DSP-32, DSP-33).
namespace assay::contracts {
namespace {

/// DSP-32: what `party` plays at once in the task, `dispute` included, which may be stored already or not yet.
Games games_of(const StateView& view, const Task& task, const AccountId& party, const Dispute& dispute) {
    Games games;
    std::set<Hash256> claims{claim_hash(dispute.claim)};
    for (const NotedDispute& each : get_bookkeeping(view, task.id).disputes) {
        if (each.id != dispute.id && (each.responder == party || each.challenger == party)) {
            ++games.disputes;
            claims.insert(each.claim);
        }
    }
    games.claims = claims.size();
    return games;
}

}  // namespace

std::uint32_t clock_left(const Context& context, const Task& task, const Dispute& dispute, bool of_responder) {
    // DSP-33
    const DisputeGame& game = *dispute.game();
    const AccountId& party = of_responder ? dispute.responder : dispute.challenger;
    const std::uint32_t least =
        dispute_extension(context.params, task.spec, games_of(context.state, task, party, dispute));
    const std::uint32_t clock = of_responder ? game.responder_clock : game.challenger_clock;
    const auto used = static_cast<std::uint32_t>(context.height().value - game.last_move_at.value);
    return std::max(clock - std::min(clock, used), least);
}

DisputeGame fresh_game(const Context& context, const Task& task, const Dispute& dispute) {
    // DSP-32
    const bool is_together = task.group && task.group->is_together;  // GRP-11
    const AccountId& defender = dispute.accusation() != nullptr ? dispute.challenger : dispute.responder;
    const auto clock_of = [&](const AccountId& party) {
        Games games = games_of(context.state, task, party, dispute);
        games.may_answer = is_together && party == defender && is_member(task, party);
        return dispute_clock(context.params, task.spec, games);
    };
    return {
        .responder_clock = clock_of(dispute.responder),
        .challenger_clock = clock_of(dispute.challenger),
        .last_move_at = context.height(),
        .deadline = {}};
}

}  // namespace assay::contracts
