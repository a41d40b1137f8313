// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/work.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/statements.hpp>
#include <tests/unit/contracts/toy.hpp>

/// How much time a party has that has several games to play at once (DSP-32, WRK-5).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

/// A replay takes longer than a clock is without it.
Params slow_params() {
    Params params = all_segments();
    params.hardware_classes = {{"cpu", 1}};
    params.block_ms = 1;
    params.replay_blocks_max = 1'000;
    params.dispute_clock_blocks = 5;
    return params;
}

TaskSpec slow_spec() {
    TaskSpec spec = honest().spec();
    spec.training_blocks = 10'000;
    return spec;
}

/// The task once its verdicts are in, all of which accept it.
TaskId challenged_task(Chain& chain) {
    chain.bond_all();
    const TaskId id = chain.start_task(slow_spec());
    chain.post_checkpoints(id, honest().checkpoint_roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
    return id;
}

/// One wrong step in each segment of the toy task.
const ToyRun& liar_about(std::uint32_t segment) {
    static const std::vector<ToyRun> kLiars = [] {
        std::vector<ToyRun> out{ToyRun(Tamper{.initialisation = true})};
        for (const std::uint64_t step : {1U, 5U, 9U}) {
            out.emplace_back(Tamper{.step = step, .node = 2, .byte = 2});
        }
        return out;
    }();
    return kLiars[segment];
}

/// Somebody who is right, whose machine replays one claim after the other and takes all the time that WRK-4 states, and
/// those who play against it and move at once. It replays each claim `passes` times before it moves.
class Table {
  public:
    Table(Chain& chain, const TaskId& task, const Actor& slow, std::uint64_t passes = 1)
        : chain_(chain), task_(task), slow_(slow) {
        replay_ = passes * (replay_blocks(chain.params, chain.task(task).spec) + 1);
    }

    std::uint64_t replay() const { return replay_; }
    /// Until no dispute is open.
    void play() {
        while (chain_.task(task_).open_disputes != 0) {
            play_block();
        }
    }

  private:
    struct Game {
        std::unique_ptr<ToyReplay> truth;
        std::unique_ptr<ToyReplay> lie;
        std::vector<dispute::NodeReveal> reveals;
    };

    Game& game_of(const Dispute& dispute) {
        Game& game = games_[dispute.id];
        if (!game.truth) {
            const auto before =
                dispute.claim.initialisation ? honest().state(0) : honest().state(dispute.claim.first_step);
            game.truth = std::make_unique<ToyReplay>(honest(), dispute.claim, before);
            game.lie = std::make_unique<ToyReplay>(liar_about(dispute.segment), dispute.claim, before);
        }
        return game;
    }

    static Action move_of(const Dispute& dispute, Game& game, ToyReplay& replay) {
        const dispute::Position& position = dispute.position;
        if (position.is_at_proof()) {
            return ProveMove{dispute.id, dispute::make_proof(dispute.claim, position, replay, game.reveals)};
        }
        if (!is_responders_turn(dispute)) {
            return SelectMove{dispute.id, position.rounds, dispute::make_selection(dispute.claim, position, replay)};
        }
        auto children = dispute::make_reveal(dispute.claim, position, replay);
        if (const auto first_node = dispute::first_node_of(position)) {
            game.reveals.push_back({*first_node, dispute::split(dispute.claim, position).child_height, children});
        }
        return RevealMove{dispute.id, position.rounds, std::move(children)};
    }

    void play_block() {
        std::map<AccountId, std::uint64_t> sent;
        std::vector<Bytes> txs;
        const auto send = [&](const AccountId& from, const Action& action) {
            const std::uint64_t nonce = get_account(chain_.view, from).nonce + sent[from]++;
            txs.push_back(chain_.make_tx(chain_.actor_of(from), action, nonce, {kFee}));
        };
        std::vector<Dispute> due;
        for (const NotedDispute& open : get_bookkeeping(chain_.view, task_).disputes) {
            Dispute dispute = find_dispute(chain_.view, open.id).value();
            const AccountId& mover = is_responders_turn(dispute) ? dispute.responder : dispute.challenger;
            if (mover == slow_.id || dispute.position.is_at_proof()) {
                due.push_back(std::move(dispute));
            } else {
                Game& game = game_of(dispute);
                send(mover, move_of(dispute, game, *game.lie));
            }
        }
        std::stable_sort(due.begin(), due.end(), [](const Dispute& one, const Dispute& other) {
            return one.deadline() < other.deadline();
        });
        bool works = false;
        for (const Dispute& dispute : due) {
            std::uint64_t& done = replayed_[codec::encode(dispute.claim)];
            if (done >= replay_) {
                Game& game = game_of(dispute);
                send(slow_.id, move_of(dispute, game, *game.truth));
            } else if (!works) {
                works = true;
                ++done;
            }
        }
        const BlockOutcome& outcome = chain_.run_block(txs);
        for (const Receipt& each : outcome.receipts) {
            REQUIRE(each.code == 0);
        }
    }

    Chain& chain_;
    TaskId task_;
    Actor slow_;
    std::uint64_t replay_ = 0;
    std::map<DisputeId, Game> games_;
    std::map<Bytes, std::uint64_t> replayed_;  ///< blocks that it has spent on a claim
};

}  // namespace

TEST_CASE("DSP-32, WRK-5: a party has the time of two replays for each claim that it plays over, and no more for one") {
    Chain chain(slow_params());
    const TaskId id = challenged_task(chain);
    const std::uint64_t replay = replay_blocks(chain.params, slow_spec());
    const std::uint64_t least = chain.params.dispute_clock_blocks;
    REQUIRE(replay > least);
    const auto open = [&](const Actor& challenger, std::uint32_t segment) {
        REQUIRE(chain.run(challenger, OpenDispute{id, segment, Role::kWhistleblower}) == 0);
        const DisputeId opened = dispute_id(id, segment, challenger.id);
        return *find_dispute(chain.view, opened)->game();
    };
    const Actor& one = chain.whistleblower;
    REQUIRE(chain.run(chain.stranger, Bond{Role::kWhistleblower, {100 * kCoin}}) == 0);
    CHECK(open(one, 1).responder_clock == least + 2 * replay);
    CHECK(open(chain.stranger, 1).responder_clock == least + 2 * replay);  // it is replayed once
    const DisputeGame third = open(one, 2);
    CHECK(third.responder_clock == least + 4 * replay);
    CHECK(third.challenger_clock == least + 4 * replay);
    const DisputeGame fourth = open(chain.stranger, 3);
    CHECK(fourth.responder_clock == least + 6 * replay);
    CHECK(fourth.challenger_clock == least + 4 * replay);  // its own claims are 1 and 3
    CHECK(
        find_dispute(chain.view, dispute_id(id, 3, chain.stranger.id))->deadline() ==
        Height{chain.height.value + least + 6 * replay}
    );
}

TEST_CASE("DSP-32: a move reads as many disputes, however many others of the task are open") {
    Chain chain(slow_params());
    const TaskId id = challenged_task(chain);
    REQUIRE(chain.run(chain.stranger, Bond{Role::kWhistleblower, {100 * kCoin}}) == 0);
    const auto reads_of_reveal = [&](const Actor& challenger, std::uint32_t segment) {
        REQUIRE(chain.run(challenger, OpenDispute{id, segment, Role::kWhistleblower}) == 0);
        const Dispute opened = find_dispute(chain.view, dispute_id(id, segment, challenger.id)).value();
        ToyReplay truth(honest(), opened.claim, honest().state(opened.claim.first_step));
        const RevealMove move{opened.id, 0, dispute::make_reveal(opened.claim, opened.position, truth)};
        const std::uint8_t kind = keys::dispute(opened.id)[0];
        const std::uint64_t before = chain.view.reads(kind);
        REQUIRE(chain.run(chain.solver, move) == 0);
        return chain.view.reads(kind) - before;
    };
    const std::uint64_t alone = reads_of_reveal(chain.whistleblower, 1);
    CHECK(alone > 0);
    for (const Actor* challenger : {&chain.whistleblower, &chain.stranger}) {
        for (const std::uint32_t segment : {2U, 3U}) {
            CHECK(reads_of_reveal(*challenger, segment) == alone);
        }
    }
}

TEST_CASE("DSP-32: a solver whose machine takes all of a replay's time answers false disputes of all its segments") {
    Chain chain(slow_params());
    const TaskId id = challenged_task(chain);
    for (std::uint32_t segment = 0; segment <= 3; ++segment) {
        REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, segment, Role::kWhistleblower}) == 0);
    }
    Table table(chain, id, chain.solver);
    REQUIRE(table.replay() > chain.params.dispute_clock_blocks);
    table.play();
    for (std::uint32_t segment = 0; segment <= 3; ++segment) {
        CAPTURE(segment);
        const Dispute ended = find_dispute(chain.view, dispute_id(id, segment, chain.whistleblower.id)).value();
        CHECK(ended.state() == DisputeState::kUpheld);
    }
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
}

TEST_CASE("STM-9, DSP-32: a member that may have been misled has the time of two replays more for each claim") {
    Team team(slow_spec(), 3, slow_params());
    team.post(honest(), 3);
    const Actor accused = team.members[0];
    const std::uint64_t replay = replay_blocks(team.chain.params, slow_spec());
    const std::uint64_t least = team.chain.params.dispute_clock_blocks;
    const std::vector<Actor> accusers{team.chain.solver, team.members[1]};
    for (std::uint32_t segment = 1; segment <= 2; ++segment) {
        const Actor& accuser = accusers[segment - 1];
        const Stated what{.step = std::vector<std::uint64_t>{1, 5}[segment - 1], .index = 2};
        REQUIRE(team.chain.run(accuser, team.accuse(accused, honest(), liar_about(segment), std::nullopt, what)) == 0);
        const Dispute opened = find_dispute(team.chain.view, team.accusation(accused, accuser, segment)).value();
        CHECK(opened.game()->challenger_clock == least + 4 * segment * replay);  // of the accused
        CHECK(opened.game()->responder_clock == least + 2 * replay);
    }
}

TEST_CASE("STM-8, DSP-32: a member answers as many false accusations as there are others, of a segment each") {
    Team team(slow_spec(), 3, slow_params());
    team.post(honest(), 3);
    const Actor accused = team.members[0];
    const std::vector<Actor> accusers{team.chain.solver, team.members[1], team.members[2]};
    for (std::uint32_t segment = 1; segment <= 3; ++segment) {
        const Stated what{.step = std::vector<std::uint64_t>{1, 5, 9}[segment - 1], .index = 2};
        REQUIRE(
            team.chain.run(
                accusers[segment - 1], team.accuse(accused, honest(), liar_about(segment), std::nullopt, what)
            ) == 0
        );
    }
    constexpr std::uint64_t kPasses = 3;  // as who also searches what it was told
    Table table(team.chain, team.id, accused, kPasses);
    REQUIRE(table.replay() > team.chain.params.dispute_clock_blocks);
    table.play();
    for (std::uint32_t segment = 1; segment <= 3; ++segment) {
        CAPTURE(segment);
        CHECK(team.state(team.accusation(accused, accusers[segment - 1], segment)) == DisputeState::kRefuted);
    }
    CHECK(team.chain.task(team.id).group->convicted.empty());
    CHECK(team.locked(accused) == team.bond);
}
