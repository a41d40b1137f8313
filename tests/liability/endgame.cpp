// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/endgame.hpp>

#include <algorithm>
#include <bit>

#include <contracts/params/gas.hpp>
#include <contracts/tasks/tasks.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/fixture.hpp>
#include <core/dispute/player.hpp>

namespace assay::liability {

using contracts::Role;
using contracts::test::kCoin;

namespace {

constexpr std::size_t kFillers = 5;  ///< of 64 KiB: one more than fits

std::uint64_t nonce_of(const Stage& stage, const AccountId& account) {
    const auto person = stage.chain.world.people.find(account);
    return person == stage.chain.world.people.end() ? 0 : person->second.nonce;
}

bool is_of_segment(const model::Dispute& dispute, const dispute::Claim& claim, const model::Task& task) {
    const bool is_end_or_probe = !dispute.verdict || dispute.verdict->part != contracts::VerdictPart::kMeasurement;
    return !dispute.profile && is_end_or_probe && dispute.segment <= contracts::segment_count(task.spec) &&
           (dispute.verdict || !task.spec.parent || !claim.initialisation);
}

}  // namespace

const char* to_string(Continuation continuation) noexcept {
    switch (continuation) {
        case Continuation::kSilence:
            return "silence";
        case Continuation::kLastMoment:
            return "last";
        case Continuation::kFullBlocks:
            return "full";
    }
    return "";
}

// --- moves at the last moment --------------------------------------------------------------------------------

void Staller::act(const Stage& stage, const std::set<AccountId>& honest) {
    Member& accuser = members_.front();
    if (accuser.balance(stage) > 100 * kCoin) {
        accuser.bond(stage, Role::kWhistleblower, 50 * kCoin);
    }
    for (const auto& [id, dispute] : stage.chain.world.disputes) {
        for (Member& member : members_) {
            if (contracts::is_open(dispute.state) &&
                (dispute.challenger == member.id() || dispute.responder == member.id())) {
                move(stage, member, id, dispute);
            }
        }
    }
    for (const auto& [id, task] : stage.chain.world.tasks) {
        const std::uint64_t height = stage.node.height();
        if (!contracts::is_terminal(task.state) && task.deadline > height && task.deadline <= height + 2) {
            accuse(stage, id, task, honest);
        }
    }
}

void Staller::accuse(
    const Stage& stage, const contracts::TaskId& id, const model::Task& task, const std::set<AccountId>& honest
) {
    Member& accuser = members_.front();
    if (task.state != contracts::TaskState::kChallenge) {
        return;
    }
    if (task.solver && honest.contains(*task.solver) && task.spec.mode == contracts::Mode::kExact) {
        accuser.send_once(stage, contracts::OpenDispute{id, 1, Role::kWhistleblower});
    }
    for (const model::Duty& duty : task.duties) {
        if (honest.contains(duty.verifier) && duty.verdict.probe_root) {
            accuser.send_once(stage, contracts::ChallengeVerdict{id, duty.segment, duty.verifier});
        }
    }
}

void Staller::move(const Stage& stage, Member& member, const contracts::DisputeId& id, const model::Dispute& dispute) {
    const model::Game& game = stage.chain.games.at(id);
    const model::Task& task = stage.chain.world.tasks.at(dispute.task);
    const bool responds = dispute.responder == member.id();
    if (dispute.state != contracts::DisputeState::kActive || game.position.is_at_proof() ||
        game.position.pending().empty() != responds || !is_of_segment(dispute, game.claim, task)) {
        return;
    }
    model::Player& player = players_[id];
    if (!player.replay) {
        player = model::play_segment(stage.shop, game.claim, model::Way::kTruth);
    }
    if (!player.replay) {
        return;
    }
    if (responds) {
        member.send_once(
            stage,
            contracts::RevealMove{
                id, game.position.rounds, dispute::make_reveal(game.claim, game.position, *player.replay)}
        );
    } else {
        member.send_once(
            stage,
            contracts::SelectMove{
                id, game.position.rounds, dispute::make_selection(game.claim, game.position, *player.replay)}
        );
    }
}

// --- full blocks ---------------------------------------------------------------------------------------------

bool Filler::owns(const AccountId& account) const {
    return std::any_of(keys_.begin(), keys_.end(), [&](const auto& key) { return key.account() == account; });
}

std::uint64_t Filler::price_of(const Stage& stage, const Bytes& tx) const {
    const auto decoded = codec::decode<contracts::Tx>(tx);
    if (!decoded || owns(decoded->body.sender)) {
        return 0;
    }
    return decoded->body.fee.grains / contracts::gas_of_bytes(tx, stage.node.state()->params());
}

void Filler::act(const Stage& stage) {
    std::uint64_t dearest = stage.node.state()->params().gas_price_min.grains;
    for (const Bytes& tx : stage.node.waiting()) {
        dearest = std::max(dearest, price_of(stage, tx));
    }
    if (stage.node.height() != filled_at_) {
        price_ = 0;  // what waited is in a block
    }
    raise(stage, dearest);
}

void Filler::see_transaction(const Stage& stage, const Bytes& tx) {
    const std::uint64_t price = price_of(stage, tx);
    if (price != 0) {
        raise(stage, price);
    }
}

void Filler::raise(const Stage& stage, std::uint64_t price) {
    const std::uint64_t wanted = 2 * std::bit_ceil(price);  // few steps, since each is signed anew
    if (wanted <= price_ && filled_at_ == stage.node.height()) {
        return;
    }
    price_ = wanted;
    filled_at_ = stage.node.height();
    for (const crypto::SecretKey& key : keys_) {
        if (fill_from(stage, key, wanted)) {
            return;
        }
    }
}

/// False: the account cannot pay for a block.
bool Filler::fill_from(const Stage& stage, const crypto::SecretKey& key, std::uint64_t price) {
    const contracts::Params params = stage.node.state()->params();
    const AccountId account = key.account();
    contracts::SelectMove move;
    move.selection.node.emplace();
    contracts::TxBody body{chain_id_, account, nonce_of(stage, account), {}, move};
    const std::size_t room = params.tx_size_max - codec::encode(contracts::sign_tx(body, key)).size();
    move.selection.node->path.resize(room / sizeof(Hash256));
    body.action = move;
    const std::uint64_t gas = contracts::gas_of({body, {}}, params.tx_size_max, params);
    body.fee = Amount{gas * price};
    const auto person = stage.chain.world.people.find(account);
    if (person == stage.chain.world.people.end() || person->second.balance / kFillers < body.fee.grains) {
        return false;
    }
    for (std::size_t i = 0; i < kFillers; ++i) {
        // Refused where what waits under this nonce offers as much.
        static_cast<void>(stage.node.submit(codec::encode(contracts::sign_tx(body, key))));
        ++body.nonce;
    }
    return true;
}

}  // namespace assay::liability
