// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tests/adversary/fraud.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <core/dispute/player.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/dispute_player.hpp>
#include <verifier/worker/replay.hpp>

namespace assay::worker {
namespace {

using adversary::Dishonesty;
using adversary::Fraud;

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

/// Both sides as the dispute desk plays them, with the chain's record of their moves.
Ended play(const dispute::Claim& claim, dispute::Replay& responder, dispute::Replay& challenger) {
    dispute::Position position = dispute::start_position(claim);
    // The first transaction opens the dispute, and one that failed changes nothing.
    std::vector<contracts::Tx> moves{tx_of(contracts::OpenDispute{}), tx_of(contracts::RevealMove{})};
    while (!position.is_at_proof()) {
        if (position.pending().empty()) {
            const contracts::RevealMove move{
                .dispute = {}, .round = position.rounds, .children = dispute::make_reveal(claim, position, responder)};
            position = dispute::reveal(claim, position, move.children).value();
            moves.push_back(tx_of(move));
        } else {
            const contracts::SelectMove move{
                .dispute = {},
                .round = position.rounds,
                .selection = dispute::make_selection(claim, position, challenger)};
            position = dispute::select(claim, position, move.selection).value();
            moves.push_back(tx_of(move));
        }
    }
    const auto reveals = node_reveals(claim, moves);
    const auto judged = [&](dispute::Replay& replay) {
        return dispute::judge(claim, position, dispute::make_proof(claim, position, replay, reveals));
    };
    return {
        .at = dispute::pinpoint(position),
        .by_responder = judged(responder),
        .by_challenger = judged(challenger),
        .rounds = position.rounds};
}

EngineReplay replay_of(
    const test::SmallTask& task, std::uint32_t segment, const dispute::Claim& claim,
    const std::shared_ptr<const Fraud>& posted_by, const std::shared_ptr<const Fraud>& fraud
) {
    auto before = segment == 0 ? std::vector<canonical::Tensor>{} : task.state_after(segment - 1, posted_by);
    return EngineReplay(task.artifacts, claim, std::move(before), {}, fraud);
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
    EngineReplay responder(other, claim, {}, {});
    EngineReplay challenger(task.artifacts, claim, {}, {});
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
