// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <tests/adversary/fraud.hpp>
#include <tests/unit/worker/part_of_task.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <core/dispute/player.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/dispute_player.hpp>
#include <verifier/worker/replay.hpp>
#include <verifier/worker/shared_replays.hpp>

namespace assay::worker {
namespace {

using adversary::Dishonesty;
using adversary::Fraud;

/// Steps that the moves of one dispute take after its segment: the commitments of a step, and the outputs that a node
/// reads and writes.
constexpr std::uint64_t kStepsForMoves = 4;

struct Ended {
    dispute::Pinpoint at;
    Result<dispute::Ruling, dispute::ProofError> by_responder;
    Result<dispute::Ruling, dispute::ProofError> by_challenger;
    std::uint32_t rounds = 0;
};

contracts::Tx tx_of(contracts::Action action) {
    contracts::Tx tx;
    tx.body.action = std::move(action);
    return tx;
}

/// A dispute as the dispute desks of both sides play it, with the chain's record of their moves.
class Game {
  public:
    explicit Game(const dispute::Claim& claim) : claim_(claim), position_(dispute::start_position(claim)) {}

    bool is_at_proof() const { return position_.is_at_proof(); }
    /// The next move, of whoever has to make it; none where a proof is due.
    void move(dispute::Replay& responder, dispute::Replay& challenger) {
        if (is_at_proof()) {
            return;
        }
        if (position_.pending().empty()) {
            const contracts::RevealMove move{
                .dispute = {},
                .round = position_.rounds,
                .children = dispute::make_reveal(claim_, position_, responder)};
            position_ = dispute::reveal(claim_, position_, move.children).value();
            moves_.push_back(tx_of(move));
        } else {
            const contracts::SelectMove move{
                .dispute = {},
                .round = position_.rounds,
                .selection = dispute::make_selection(claim_, position_, challenger)};
            position_ = dispute::select(claim_, position_, move.selection).value();
            moves_.push_back(tx_of(move));
        }
    }
    /// What the proofs of both come to.
    Ended end(dispute::Replay& responder, dispute::Replay& challenger) const {
        const auto reveals = node_reveals(claim_, moves_);
        const auto judged = [&](dispute::Replay& replay) {
            return dispute::judge(claim_, position_, dispute::make_proof(claim_, position_, replay, reveals));
        };
        return {
            .at = dispute::pinpoint(position_),
            .by_responder = judged(responder),
            .by_challenger = judged(challenger),
            .rounds = position_.rounds};
    }

  private:
    dispute::Claim claim_;
    dispute::Position position_;
    // The first transaction opens the dispute, and one that failed changes nothing.
    std::vector<contracts::Tx> moves_{tx_of(contracts::OpenDispute{}), tx_of(contracts::RevealMove{})};
};

Ended play(const dispute::Claim& claim, dispute::Replay& responder, dispute::Replay& challenger) {
    Game game(claim);
    while (!game.is_at_proof()) {
        game.move(responder, challenger);
    }
    return game.end(responder, challenger);
}

EngineReplay replay_of(
    const test::SmallTask& task, std::uint32_t segment, const dispute::Claim& claim,
    const std::shared_ptr<const Fraud>& posted_by, const std::shared_ptr<const Fraud>& fraud
) {
    auto before = segment == 0 ? std::vector<canonical::Tensor>{} : task.state_after(segment - 1, posted_by);
    return EngineReplay(task.artifacts, claim, std::move(before), {}, {}, fraud);
}

TEST_CASE("DSP-20: every fraud is refuted by the proof of the honest party, where it was committed") {
    const test::SmallTask task;
    for (const Dishonesty kind :
         {Dishonesty::kTile, Dishonesty::kSkip, Dishonesty::kData, Dishonesty::kInit, Dishonesty::kOptimizer}) {
        CAPTURE(to_string(kind));
        const auto fraud = std::make_shared<const Fraud>(kind, task.artifacts);
        const std::uint32_t segment = fraud->segment();
        const dispute::Claim claim = task.claim(segment, fraud);
        REQUIRE(claim.after != task.claim(segment).after);
        auto responder = replay_of(task, segment, claim, fraud, fraud);
        auto challenger = replay_of(task, segment, claim, fraud, nullptr);
        const Ended ended = play(claim, responder, challenger);
        CHECK(ended.rounds <= dispute::kMaxRounds);
        REQUIRE(ended.by_challenger.has_value());
        CHECK(*ended.by_challenger == dispute::Ruling::kClaimRefuted);
        // The cheat's own proof convicts it too, which is why its desk does not send one.
        REQUIRE(ended.by_responder.has_value());
        CHECK(*ended.by_responder == dispute::Ruling::kClaimRefuted);
        CHECK(ended.at.step == fraud->first_step());
        if (fraud->node()) {
            CHECK(ended.at.node == fraud->node());
        }
        if (fraud->tile()) {
            CHECK(ended.at.tile == fraud->tile());
        }
    }
}

TEST_CASE("ART-19: who has only the chunks of the disputed segment refutes other rows than the batch's") {
    test::SmallTask task(test::Start::kRandom, test::long_text(2U << 20U));
    const auto fraud = std::make_shared<const Fraud>(Dishonesty::kData, task.artifacts);
    const std::uint32_t segment = fraud->segment();
    const dispute::Claim claim = task.claim(segment, fraud);
    auto responder = replay_of(task, segment, claim, fraud, fraud);
    auto before = task.state_after(segment - 1, fraud);
    const test::PartOfTask part(task);
    const auto some = part.load(segment);
    REQUIRE(some->segments.has_value());
    EngineReplay challenger(some, claim, std::move(before), {}, {});
    const Ended ended = play(claim, responder, challenger);
    REQUIRE(ended.by_challenger.has_value());
    CHECK(*ended.by_challenger == dispute::Ruling::kClaimRefuted);
    CHECK(ended.at.node == fraud->node());
}

TEST_CASE("a party to a dispute hashes each tensor around the disputed step once, however many moves ask for it") {
    const test::SmallTask task;
    const auto fraud = std::make_shared<const Fraud>(Dishonesty::kTile, task.artifacts);
    const dispute::Claim claim = task.claim(fraud->segment(), fraud);
    auto responder = replay_of(task, fraud->segment(), claim, fraud, fraud);
    auto challenger = replay_of(task, fraud->segment(), claim, fraud, nullptr);
    play(claim, responder, challenger);
    const std::uint64_t outputs = responder.graph().size() - 1;
    const std::uint64_t tensors = task.artifacts->program.state.size();
    constexpr std::uint64_t kMostRead = 5;
    for (const EngineReplay* party : {&responder, &challenger}) {
        CHECK(party->tensors_hashed() >= outputs);
        // Besides the states before and after the step, and what the disputed node reads and writes, for its tiles.
        CHECK(party->tensors_hashed() <= outputs + 2 * tensors + kMostRead);
    }
    // The same moves once more are answered from what is kept.
    const std::uint64_t by_responder = responder.tensors_hashed();
    const std::uint64_t by_challenger = challenger.tensors_hashed();
    play(claim, responder, challenger);
    CHECK(responder.tensors_hashed() == by_responder);
    CHECK(challenger.tensors_hashed() == by_challenger);
}

/// A worker's disputes of one claim, by accounts whose replays are `challengers`: the games are played in turns, as a
/// worker attends to them, with the replays that it shares between them.
struct TwoGames {
    std::vector<Ended> ended{};
    std::size_t replays_made = 0;
    std::uint64_t steps_run = 0;
};

TwoGames play_two(
    const dispute::Claim& claim, const std::function<EngineReplay()>& make_responder,
    const std::vector<EngineReplay*>& challengers
) {
    TwoGames out;
    SharedReplays replays;
    std::vector<std::shared_ptr<EngineReplay>> made;
    const auto replay_of_game = [&](std::size_t game) {
        contracts::Dispute dispute;
        dispute.id = contracts::DisputeId{{static_cast<std::uint8_t>(game + 1)}};
        dispute.task = contracts::TaskId{{7}};
        dispute.claim = claim;
        return replays.of(dispute, [&] {
            made.push_back(std::make_shared<EngineReplay>(make_responder()));
            return made.back();
        });
    };
    std::vector<Game> games(challengers.size(), Game(claim));
    while (!std::all_of(games.begin(), games.end(), [](const Game& game) { return game.is_at_proof(); })) {
        for (std::size_t i = 0; i < games.size(); ++i) {
            games[i].move(*replay_of_game(i), *challengers[i]);
        }
    }
    for (std::size_t i = 0; i < games.size(); ++i) {
        out.ended.push_back(games[i].end(*replay_of_game(i), *challengers[i]));
    }
    out.replays_made = made.size();
    for (const auto& replay : made) {
        out.steps_run += replay->steps_run();
    }
    return out;
}

TEST_CASE("two disputes of a dishonest solver's claim at once share one replay, and both refute it") {
    const test::SmallTask task;
    const auto fraud = std::make_shared<const Fraud>(Dishonesty::kTile, task.artifacts);
    const std::uint32_t segment = fraud->segment();
    const dispute::Claim claim = task.claim(segment, fraud);
    auto first = replay_of(task, segment, claim, fraud, nullptr);
    auto second = replay_of(task, segment, claim, fraud, nullptr);
    const auto responder = [&] { return replay_of(task, segment, claim, fraud, fraud); };
    const TwoGames one = play_two(claim, responder, {&first});
    const TwoGames both = play_two(claim, responder, {&first, &second});
    CHECK(both.replays_made == 1);
    for (const Ended& game : both.ended) {
        CHECK(game.by_challenger.value() == dispute::Ruling::kClaimRefuted);
        CHECK(game.at.step == fraud->first_step());
    }
    // They ask about the same step, so the second costs no step that the first has not run.
    CHECK(both.steps_run == one.steps_run);
}

TEST_CASE("two disputes of an honest solver's claim at once share one replay, and the claim holds in both") {
    const test::SmallTask task;
    const auto lie = std::make_shared<const Fraud>(Dishonesty::kFalseAccuser, task.artifacts);
    const std::uint32_t segment = lie->segment();
    const auto other_lie = std::make_shared<const Fraud>(Dishonesty::kTile, task.artifacts, segment, 3);
    const dispute::Claim claim = task.claim(segment);
    auto first = replay_of(task, segment, claim, nullptr, lie);
    auto second = replay_of(task, segment, claim, nullptr, other_lie);
    const TwoGames both =
        play_two(claim, [&] { return replay_of(task, segment, claim, nullptr, nullptr); }, {&first, &second});
    CHECK(both.replays_made == 1);
    for (const Ended& game : both.ended) {
        CHECK(game.by_responder.value() == dispute::Ruling::kClaimHolds);
    }
    // The segment once, and for each dispute the commitments of a step and what a node reads. They may be about
    // different steps, which each of them may make the other's replay return to.
    CHECK(both.steps_run <= claim.step_count + 2 * kStepsForMoves);
}

TEST_CASE("a dispute of another claim, or of another task, has a replay of its own") {
    const test::SmallTask task;
    SharedReplays replays;
    std::size_t made = 0;
    const auto ask = [&](std::uint8_t id, std::uint8_t of_task, std::uint32_t segment) {
        contracts::Dispute dispute;
        dispute.id = contracts::DisputeId{{id}};
        dispute.task = contracts::TaskId{{of_task}};
        dispute.claim = task.claim(segment);
        return replays.of(dispute, [&] {
            ++made;
            return std::make_shared<EngineReplay>(replay_of(task, segment, dispute.claim, nullptr, nullptr));
        });
    };
    const auto kept = ask(1, 7, 1);
    CHECK(ask(2, 7, 1) == kept);
    CHECK(ask(3, 7, 2) != kept);
    CHECK(ask(4, 8, 1) != kept);
    CHECK(made == 3);
    replays.drop(contracts::DisputeId{{1}});
    CHECK(ask(2, 7, 1) == kept);
    CHECK(ask(5, 7, 1) == kept);
    CHECK(made == 3);
    contracts::Dispute dispute;
    CHECK(replays.of(dispute, [] { return nullptr; }) == nullptr);
}

TEST_CASE("DSP-20: a false accuser is refuted by the honest responder's proof") {
    const test::SmallTask task;
    const auto fraud = std::make_shared<const Fraud>(Dishonesty::kFalseAccuser, task.artifacts);
    const std::uint32_t segment = fraud->segment();
    const dispute::Claim claim = task.claim(segment);
    auto responder = replay_of(task, segment, claim, nullptr, nullptr);
    auto challenger = replay_of(task, segment, claim, nullptr, fraud);
    REQUIRE(challenger.state_root_after(claim.first_step + claim.step_count - 1) != claim.after);
    const Ended ended = play(claim, responder, challenger);
    REQUIRE(ended.by_responder.has_value());
    CHECK(*ended.by_responder == dispute::Ruling::kClaimHolds);
    REQUIRE(ended.by_challenger.has_value());
    CHECK(*ended.by_challenger == dispute::Ruling::kClaimHolds);
}

TEST_CASE("DSP-11: a solver who started from other tensors than those given is refuted by the honest party's proof") {
    const test::SmallTask task(test::Start::kGiven);
    auto other = std::make_shared<TaskArtifacts>(*task.artifacts);
    other->initial[0].data[2] ^= 0x40U;
    dispute::Claim claim = task.claim(0);
    claim.after = artifacts::state_root_of(run_segment(other, 0, {}, {}, nullptr).value().state);
    REQUIRE(claim.after != task.claim(0).after);
    EngineReplay responder(other, claim, {}, {}, {});
    EngineReplay challenger(task.artifacts, claim, {}, {}, {});
    const Ended ended = play(claim, responder, challenger);
    CHECK(ended.at.node == 0U);
    CHECK(ended.at.op == canonical::Op::kScale);
    CHECK(ended.by_challenger.value() == dispute::Ruling::kClaimRefuted);
    // What it read is not under the root that the task commits to.
    CHECK(ended.by_responder.error() == dispute::ProofError::kBadTilePath);
}

TEST_CASE("a fraud is the same in training and in replay, and leaves other segments honest") {
    const test::SmallTask task;
    for (const Dishonesty kind : {Dishonesty::kTile, Dishonesty::kSkip, Dishonesty::kData}) {
        CAPTURE(to_string(kind));
        const auto fraud = std::make_shared<const Fraud>(kind, task.artifacts);
        CHECK(task.state_after(3, fraud) == task.state_after(3, fraud));
        CHECK(fraud->segment() == 2);
        CHECK(task.claim(1, fraud).after == task.claim(1).after);
        // The segment after it, replayed honestly from the cheat's own checkpoint, is right.
        const auto after = run_segment(task.artifacts, 3, task.state_after(2, fraud), {}, nullptr).value().state;
        CHECK(artifacts::state_root_of(after) == task.claim(3, fraud).after);
    }
    CHECK_THROWS(Fraud(Dishonesty::kTile, task.artifacts, 3, 100'000));
    const Fraud asked(Dishonesty::kTile, task.artifacts, 9, 20);
    CHECK(asked.segment() == 3);
    CHECK(asked.node() == 20U);
}

}  // namespace
}  // namespace assay::worker
