// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include <contracts/params/spec.hpp>
#include <contracts/params/work.hpp>
#include <core/sealed/share.hpp>
#include <tests/unit/contracts/distances.hpp>
#include <tests/unit/contracts/privately.hpp>

/// Private tasks in tolerance mode: who measures them reads them before anybody solves them (PRV-10 to PRV-13).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const std::array<std::uint8_t, 32> kAux{};

TaskSpec private_tolerance_spec() {
    TaskSpec spec = tolerance_spec();
    spec.privacy = private_spec().privacy;
    return spec;
}

Params private_tolerance_params() {
    Params params = tolerance_params();
    params.share_blocks = 9;
    return params;
}

/// A private task whose four profilers are drawn, and wait for the key.
TaskId profiled_privately(Chain& chain) {
    bond_for_tolerance(chain);
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{private_tolerance_spec()}) == 0);
    chain.skip(1);
    REQUIRE(chain.task(id).tolerance->phase == ProfilingPhase::kCommit);
    return id;
}

/// The task's key for one profiler, or another key.
KeyShare half_for(const TaskId& id, const AccountId& to, const sealed::TaskSecret& secret = task_secret()) {
    KeyShare out = share_for(id, to, to, secret);
    out.of_checkpoints.clear();
    return out;
}

ReportWrongKeys report_of_share(const TaskId& id, const Actor& who, const KeyShare& share) {
    return {id, false, share.of_task, sealed::make_wrong_share(who.key, share.of_task, kAux).value()};
}

/// Everybody's free and locked stake as a verifier.
std::vector<std::uint64_t> stakes_of(const Chain& chain, const std::vector<const Actor*>& actors) {
    std::vector<std::uint64_t> out;
    for (const Actor* actor : actors) {
        const Stake stake = chain.stake(Role::kVerifier, *actor);
        out.push_back(stake.free.grains);
        out.push_back(stake.locked.grains);
    }
    return out;
}

/// A private task whose reports are published; all start from the toy's initialisation.
TaskId reported_privately(Chain& chain) {
    const TaskId id = profiled_privately(chain);
    REQUIRE(chain.run(chain.submitter, share_all(chain, id)) == 0);
    report_all(chain, id, std::vector<ProfileReport>(4, report_of(1e-3F)));
    REQUIRE(chain.task(id).tolerance->phase == ProfilingPhase::kChallenge);
    return id;
}

}  // namespace

TEST_CASE("PRV-1: a private task may be in tolerance mode") { CHECK(check_spec(private_tolerance_spec()).has_value()); }

TEST_CASE("PRV-10: the profilers' time begins when the submitter has shared the task's key with all of them") {
    Params params = private_tolerance_params();
    params.commit_blocks = 30;
    Chain chain(params);
    const TaskId id = profiled_privately(chain);
    const Task drawn = chain.task(id);
    CHECK(drawn.secrecy->awaited.size() == 4);
    CHECK(drawn.deadline.value == chain.height.value + 9);
    ShareKeys all = share_all(chain, id);
    ShareKeys some = all;
    some.shares.pop_back();
    chain.skip(2);
    REQUIRE(chain.run(chain.submitter, some) == 0);
    CHECK(chain.task(id).deadline == drawn.deadline);
    CHECK(chain.task(id).secrecy->awaited.size() == 1);
    CHECK_FALSE(chain.task(id).secrecy->key);
    all.shares.erase(all.shares.begin(), all.shares.end() - 1);
    REQUIRE(chain.run(chain.submitter, all) == 0);
    CHECK(chain.task(id).secrecy->awaited.empty());
    CHECK(chain.task(id).deadline.value == chain.height.value + report_span(params, drawn.spec));
    report_all(chain, id, std::vector<ProfileReport>(4, report_of(1e-3F)));
    chain.skip(report_challenge_span(params, drawn.spec));
    CHECK(chain.task(id).tolerance->threshold.has_value());
}

TEST_CASE("PRV-10: profilers get a share of the task's key alone, from the submitter, for a fee") {
    Chain chain(private_tolerance_params());
    const TaskId id = profiled_privately(chain);
    const ShareKeys right = share_all(chain, id);
    const auto refuses = [&](auto change, TxError error, const Actor& sender) {
        ShareKeys wrong = right;
        change(wrong);
        return chain.fail(sender, wrong) == error;
    };
    CHECK(refuses([](ShareKeys&) {}, TxError::kNotSubmitter, chain.stranger));
    CHECK(refuses([](ShareKeys& a) { a.key = checkpoint_secret().key(); }, TxError::kShareInvalid, chain.submitter));
    const AccountId first = right.shares[0].to;
    CHECK(refuses(
        [&](ShareKeys& a) { a.shares = {share_for(id, first, first)}; }, TxError::kShareInvalid, chain.submitter
    ));
    CHECK(refuses(
        [&](ShareKeys& a) { a.shares = {half_for(id, chain.pauper.id)}; }, TxError::kShareInvalid, chain.submitter
    ));
    CHECK(refuses([](ShareKeys& a) { a.shares[0].of_task.clear(); }, TxError::kShareInvalid, chain.submitter));
    // What a solver gets has both.
    const TaskId exact = drawn_privately(chain);
    ShareKeys half = share_all(chain, exact);
    half.shares[0].of_checkpoints.clear();
    CHECK(chain.fail(chain.submitter, half) == TxError::kShareInvalid);
    chain.run_block({chain.make_tx(chain.submitter, right, chain.task(id).deadline.value, Amount{})});
    CHECK(static_cast<TxError>(chain.last.receipts.at(0).code) == TxError::kFeeTooLow);
}

TEST_CASE("PRV-10: a profiler that commits can read, and does not shorten the time of the others") {
    Params params = private_tolerance_params();
    params.commit_blocks = 30;
    Chain chain(params);
    const TaskId id = profiled_privately(chain);
    ShareKeys some = share_all(chain, id);
    const Actor& last = chain.actor_of(some.shares.back().to);
    some.shares.pop_back();
    REQUIRE(chain.run(chain.submitter, some) == 0);
    chain.skip(3);
    REQUIRE(chain.run(last, CommitProfile{id, hash_of("commitment")}) == 0);
    CHECK(chain.task(id).secrecy->awaited.empty());
    CHECK(chain.task(id).deadline.value == chain.height.value + report_span(params, chain.task(id).spec));
}

TEST_CASE("PRV-11: who keeps the key from one profiler pays for another draw, and no profiler loses anything") {
    Params params = private_tolerance_params();
    params.draw_price = {1'000'000};
    Chain chain(params);
    bond_for_tolerance(chain);
    const std::vector<const Actor*> everybody{&chain.verifier, &chain.whistleblower, &chain.stranger, &chain.solver};
    const auto before = stakes_of(chain, everybody);
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{private_tolerance_spec()}) == 0);
    const Amount room = chain.task(id).room;
    chain.skip(1);
    ShareKeys some = share_all(chain, id);
    some.shares.pop_back();
    REQUIRE(chain.run(chain.submitter, some) == 0);
    chain.skip(8);
    const Task lapsed = chain.task(id);
    CHECK(lapsed.state == TaskState::kProfiling);
    CHECK(lapsed.tolerance->phase == ProfilingPhase::kDraw);
    CHECK(lapsed.tolerance->profiles.empty());
    CHECK(lapsed.secrecy->shared.empty());
    CHECK(lapsed.lane == 0);
    CHECK(lapsed.room.grains == room.grains - params.draw_price.grains);
    CHECK(stakes_of(chain, everybody) == before);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());
    chain.skip(params.redraw_blocks + 2);
    const Task drawn = chain.task(id);
    REQUIRE(drawn.tolerance->phase == ProfilingPhase::kCommit);
    CHECK(drawn.secrecy->awaited.size() == 4);
    CHECK(drawn.room.grains == room.grains - 2 * params.draw_price.grains);
}

TEST_CASE("PRV-11: a task whose submitter never shares the key expires, and is refunded less what its draws cost") {
    Params params = private_tolerance_params();
    params.draw_price = {1'000'000};
    params.draw_blocks = 60;
    Chain chain(params);
    bond_for_tolerance(chain);
    const std::uint64_t before = chain.balance(chain.submitter);
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{private_tolerance_spec()}) == 0);
    std::uint64_t draws = 0;
    for (int i = 0; i < 200 && chain.task(id).state == TaskState::kProfiling; ++i) {
        const bool waited = chain.task(id).tolerance->phase == ProfilingPhase::kDraw;
        chain.skip(1);
        draws += waited && chain.task(id).tolerance->phase == ProfilingPhase::kCommit ? 1U : 0U;
    }
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.height.value <= chain.task(id).submitted_at.value + params.draw_blocks + params.share_blocks + 1);
    CHECK(draws >= 2);
    CHECK(chain.balance(chain.submitter) == before - kFee - draws * params.draw_price.grains);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
}

TEST_CASE("PRV-11, PRV-5: a profiler that shows that its key is another one is free, and others are drawn") {
    Chain chain(private_tolerance_params());
    const TaskId id = profiled_privately(chain);
    ShareKeys wrong = share_all(chain, id);
    const Actor& cheated = chain.actor_of(wrong.shares[1].to);
    const Actor& served = chain.actor_of(wrong.shares[0].to);
    wrong.shares[1] = half_for(id, cheated.id, secret_named("other"));
    REQUIRE(chain.run(chain.submitter, wrong) == 0);
    const ReportWrongKeys report = report_of_share(id, cheated, wrong.shares[1]);
    CHECK(chain.fail(served, report_of_share(id, served, wrong.shares[0])) == TxError::kKeysRight);
    CHECK(chain.fail(chain.submitter, report) == TxError::kShareInvalid);
    ReportWrongKeys of_checkpoints = report;
    of_checkpoints.is_of_checkpoints = true;
    CHECK(chain.fail(cheated, of_checkpoints) == TxError::kShareInvalid);
    SUBCASE("before it commits") {
        REQUIRE(chain.run(served, CommitProfile{id, hash_of("commitment")}) == 0);
        REQUIRE(chain.run(cheated, report) == 0);
        CHECK(chain.task(id).state == TaskState::kProfiling);
        CHECK(chain.task(id).tolerance->phase == ProfilingPhase::kDraw);
        CHECK(chain.stake(Role::kVerifier, cheated).locked.grains == 0);
        CHECK(chain.stake(Role::kVerifier, served).locked.grains == 0);
        CHECK(chain.fail(cheated, report) == TxError::kShareInvalid);
    }
    SUBCASE("after it") {
        REQUIRE(chain.run(cheated, CommitProfile{id, hash_of("commitment")}) == 0);
        CHECK(chain.fail(cheated, report) == TxError::kShareInvalid);
    }
}

TEST_CASE("PRV-12: of a private task nobody disputes what only its profiler has") {
    Chain chain(private_tolerance_params());
    const TaskId id = reported_privately(chain);
    const AccountId profiler = chain.task(id).tolerance->profiles[0].profiler;
    const Actor* challenger = profilers_of(chain, id)[1];
    const auto challenge = [&](ProfilePart part, std::uint32_t segment) {
        const auto roots = is_measured(part) ? std::optional(MeasuredRoots{}) : std::nullopt;
        return chain.fail(*challenger, ChallengeProfile{id, profiler, Role::kVerifier, part, segment, roots});
    };
    for (std::uint32_t segment = 1; segment <= 3; ++segment) {
        CHECK(challenge(ProfilePart::kMeasurement, segment) == TxError::kPartUnknown);
    }
    CHECK(challenge(ProfilePart::kReplayed, 2) == TxError::kPartUnknown);
    CHECK(challenge(ProfilePart::kReplayed, 3) == TxError::kPartUnknown);
    for (const auto& [part, segment] :
         {std::pair{ProfilePart::kStart, 0U}, {ProfilePart::kReplayed, 1U}, {ProfilePart::kReference, 0U}}) {
        CHECK(chain.run(*challenger, ChallengeProfile{id, profiler, Role::kVerifier, part, segment, {}}) == 0);
    }
}

TEST_CASE("PRV-10, PRV-2: who has measured a task waits for keys like others when it is drawn to judge it") {
    Chain chain(private_tolerance_params());
    const TaskId id = reported_privately(chain);
    chain.skip(report_challenge_span(chain.params, chain.task(id).spec));
    REQUIRE(chain.task(id).state == TaskState::kOpen);
    CHECK(chain.task(id).secrecy->shared.size() == 4);
    chain.await_solver(id);
    const Task drawn = chain.task(id);
    CHECK(drawn.secrecy->shared.empty());
    CHECK(drawn.secrecy->awaited.size() == 1);
    REQUIRE(chain.run(chain.submitter, share_all(chain, id)) == 0);
    CHECK(chain.task(id).secrecy->shared[0].of_checkpoints != Hash256{});
}

TEST_CASE("PRV-13: the solver of a private task in tolerance mode has the time to measure d_ref again") {
    Params params = private_tolerance_params();
    params.replay_blocks_max = 1'000;
    TaskSpec spec = private_tolerance_spec();
    spec.program.step_work = class_speed(params, 0) * 1'000 * params.block_ms * 4;
    const std::uint64_t replay = replay_blocks(params, spec);
    REQUIRE(replay > 1);
    CHECK(accept_span(params, spec) == params.accept_blocks + 3 * replay);
    spec.privacy.reset();
    CHECK(accept_span(params, spec) == params.accept_blocks + replay);
}
