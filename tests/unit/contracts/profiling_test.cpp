// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/invariants.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/params/by_value.hpp>
#include <tests/unit/contracts/distances.hpp>
#include <tests/unit/contracts/verdicts.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr dispute::Relative kBillion = 1'000'000'000;

/// What a profiler with a native engine that is `native` reports of a toy task, every part of it true.
struct Profiled {
    State start;
    std::vector<State> before, replayed, native;
    State reference;
    ProfileReport report;
};
Profiled profile_honestly(const Chain& chain, const TaskId& id, const ToyRun& native) {
    const ToyRun canonical;
    const Task task = chain.task(id);
    Profiled out;
    out.start = canonical.state(0);
    out.report.start_root = root_of(out.start);
    for (std::uint32_t segment = 1; segment <= 3; ++segment) {
        const std::uint64_t first = first_step(task.spec, segment);
        const std::uint32_t steps = step_count(task.spec, segment);
        out.before.push_back(segment == 1 ? out.start : native.state(first));
        out.replayed.push_back(replay_from(canonical, out.before.back(), first, steps));
        out.native.push_back(native.state(first + steps));
        out.report.segments.push_back(
            {root_of(out.native.back()),
             {},
             root_of(out.replayed.back()),
             measure(out.before.back(), out.replayed.back(), out.native.back(), task.tolerance->profile_seed)}
        );
    }
    // The toy's steps have no randomness, so another seed's segment is the same.
    out.reference = out.replayed[0];
    out.report.reference_root = root_of(out.reference);
    out.report.reference = measure(out.start, out.replayed[0], out.reference, task.tolerance->profile_seed);
    return out;
}

/// One honest report and three that repeat `reported`; the task is in its challenge window.
const Actor& publish_one(Chain& chain, const TaskId& id, const ProfileReport& reported) {
    report_all(chain, id, std::vector<ProfileReport>(4, reported));
    return *profilers_of(chain, id)[0];
}

/// One weight a little off after step 7, at the end of the second segment.
const Tamper kNative{false, 7, 4, 1};

/// Long windows, so that a task can be profiled while its parent is being verified.
Params long_params() {
    Params params = tolerance_params();
    params.commit_blocks = 400;
    return params;
}

/// A task upon `parent` whose profiling has come so far.
TaskId profile_until(Chain& chain, const TaskId& parent, ProfilingPhase phase) {
    if (phase == ProfilingPhase::kDraw) {
        TaskSpec spec = tolerance_spec();  // too few verifiers yet
        spec.parent = parent;
        const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
        REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
        return id;
    }
    const TaskId id = profiling_task(chain, parent);
    ProfileReport report = report_of(1e-3F);
    report.start_root = ToyRun().checkpoint_root(3);
    if (phase == ProfilingPhase::kChallenge) {
        report_all(chain, id, std::vector<ProfileReport>(4, report));
    } else if (phase == ProfilingPhase::kPublish) {
        for (const Actor* profiler : profilers_of(chain, id)) {
            const Hash256 commitment = profile_commitment(id, profiler->id, report, hash_of("salt"));
            REQUIRE(chain.run(*profiler, CommitProfile{id, commitment}) == 0);
        }
    }
    return id;
}

Profile profile_of(const Chain& chain, const TaskId& id, std::size_t place) {
    return chain.task(id).tolerance->profiles[place];
}

}  // namespace

TEST_CASE("PRF-1: profilers are drawn with the next block among verifiers who can bond, never the submitter") {
    Chain chain(tolerance_params());
    REQUIRE(chain.run(chain.submitter, Bond{Role::kVerifier, {500 * kCoin}}) == 0);
    const TaskId id = profiling_task(chain);
    std::set<AccountId> drawn;
    const Task task = chain.task(id);
    for (const Profile& profile : task.tolerance->profiles) {
        drawn.insert(profile.profiler);
        CHECK(profile.bond == chain.params.verifier_bond);
    }
    CHECK(drawn.size() == 4);
    CHECK_FALSE(drawn.contains(chain.submitter.id));
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked == chain.params.verifier_bond);
    CHECK(chain.fail(chain.pauper, CommitProfile{id, {}}) != TxError{});
    CHECK(chain.fail(chain.submitter, CommitProfile{id, {}}) == TxError::kNotProfiler);
    CHECK(chain.fail(chain.submitter, CancelTask{id}) == TxError::kTaskState);
}

TEST_CASE("PRF-1: a task that finds too few profilers expires, and everything is refunded") {
    Chain chain(tolerance_params());
    chain.bond_all();
    REQUIRE(chain.run(chain.stranger, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    const std::uint64_t before = chain.balance(chain.submitter);
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{tolerance_spec()}) == 0);
    chain.skip(chain.params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.balance(chain.submitter) == before - kFee);
}

TEST_CASE("PRF-2: the other seed and the sketches' seed are drawn with the profilers") {
    Chain one(tolerance_params());
    Chain two(tolerance_params());
    two.skip(1);
    const TaskId id = profiling_task(one);
    const Tolerance drawn = *one.task(id).tolerance;
    CHECK(drawn.reference_seed != one.task(id).spec.seed);
    CHECK(drawn.reference_seed != drawn.profile_seed);
    const Tolerance other = *two.task(profiling_task(two)).tolerance;
    CHECK(drawn.reference_seed != other.reference_seed);
    CHECK(drawn.profile_seed != other.profile_seed);
}

TEST_CASE("PRF-3: a report has every segment that is asked for, possible numbers, and is the one committed to") {
    Chain chain(tolerance_params());
    const TaskId id = profiling_task(chain);
    const auto profilers = profilers_of(chain, id);
    const ProfileReport report = report_of(1e-3F);
    ProfileReport other = report;
    other.segments.pop_back();
    const Hash256 salt = hash_of("salt");
    for (std::size_t i = 0; i < 4; ++i) {
        const ProfileReport& mine = i == 1 ? other : report;
        REQUIRE(chain.run(*profilers[i], CommitProfile{id, profile_commitment(id, profilers[i]->id, mine, salt)}) == 0);
    }
    CHECK(chain.fail(*profilers[0], PublishProfile{id, other, salt}) == TxError::kNotCommitted);
    CHECK(chain.fail(*profilers[0], PublishProfile{id, report, hash_of("other")}) == TxError::kNotCommitted);
    CHECK(chain.fail(*profilers[1], PublishProfile{id, other, salt}) == TxError::kFieldOutOfRange);
    ProfileReport impossible = report;
    impossible.segments[1].measurement.parameters.drift2 = 0xbf800000U;  // a square below zero
    CHECK(chain.fail(*profilers[0], PublishProfile{id, impossible, salt}) == TxError::kFieldOutOfRange);
    CHECK(chain.run(*profilers[0], PublishProfile{id, report, salt}) == 0);
    CHECK(find_profile(chain.view, id, 0) == report);
    // TX-6, STA-1: the commitment is over the profiler as well, so a copied one opens to nothing.
    CHECK(
        profile_commitment(id, profilers[0]->id, report, salt) != profile_commitment(id, profilers[2]->id, report, salt)
    );
}

TEST_CASE("PRF-4: commitments first, then reports, who misses a phase loses a tenth, and too few refuse the task") {
    Chain chain(tolerance_params());
    const TaskId id = profiling_task(chain);
    const auto profilers = profilers_of(chain, id);
    const ProfileReport report = report_of(1e-3F);
    const Hash256 salt = hash_of("salt");
    for (std::size_t i = 0; i < 3; ++i) {
        const Hash256 commitment = profile_commitment(id, profilers[i]->id, report, salt);
        CHECK(chain.run(*profilers[i], CommitProfile{id, commitment}) == 0);
        CHECK(chain.fail(*profilers[i], CommitProfile{id, commitment}) == TxError::kAlreadyCommitted);
        CHECK(chain.fail(*profilers[i], PublishProfile{id, report, salt}) == TxError::kPhase);
    }
    chain.skip(chain.params.commit_blocks);
    CHECK(chain.task(id).tolerance->phase == ProfilingPhase::kPublish);
    CHECK(profile_of(chain, id, 3).status == ProfileStatus::kMissed);
    CHECK(chain.fail(*profilers[3], CommitProfile{id, {}}) == TxError::kPhase);
    CHECK(chain.run(*profilers[0], PublishProfile{id, report, salt}) == 0);
    CHECK(chain.run(*profilers[1], PublishProfile{id, report, salt}) == 0);
    CHECK(
        chain.fail(
            chain.pauper, ChallengeProfile{id, profilers[0]->id, Role::kWhistleblower, ProfilePart::kStart, 0, {}}
        ) != TxError::kAlreadyDisputed
    );
    chain.skip(chain.params.publish_blocks);
    CHECK(profile_of(chain, id, 2).status == ProfileStatus::kMissed);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(2, kCoin / 10));
    chain.skip(chain.params.challenge_blocks);
    CHECK(chain.task(id).state == TaskState::kRefused);
}

TEST_CASE("PRF-5: a replay or an initial state that is reported wrongly is refuted by the one-step verifier") {
    const ToyRun canonical;
    const ToyRun native(kNative);
    const ToyRun liar(Tamper{false, 6, 1, 2});
    const ToyRun other_start(Tamper{true, 0, 0, 2});
    for (const ProfilePart part : {ProfilePart::kStart, ProfilePart::kReplayed, ProfilePart::kReference}) {
        CAPTURE(to_string(part));
        Chain chain(tolerance_params());
        const TaskId id = profiling_task(chain);
        Profiled profiled = profile_honestly(chain, id, native);
        const ToyRun& lies = part == ProfilePart::kStart ? other_start : liar;
        const std::uint32_t segment = part == ProfilePart::kReplayed ? 2 : 0;
        State before;
        if (part == ProfilePart::kStart) {
            profiled.report.start_root = root_of(lies.state(0));
        } else if (part == ProfilePart::kReplayed) {
            before = profiled.before[1];
            profiled.report.segments[1].replayed_root = root_of(replay_from(lies, before, 4, 4));
        } else {
            before = profiled.start;
            profiled.report.reference_root = root_of(canonical.state(3));
        }
        const Actor& profiler = publish_one(chain, id, profiled.report);
        const Actor& challenger = profiler.id == chain.whistleblower.id ? chain.verifier : chain.whistleblower;
        const Role role = &challenger == &chain.verifier ? Role::kVerifier : Role::kWhistleblower;
        REQUIRE(chain.run(challenger, ChallengeProfile{id, profiler.id, role, part, segment, {}}) == 0);
        const DisputeId dispute = dispute_id(id, segment, challenger.id, {profiler.id, part});
        CHECK(
            chain.fail(challenger, ChallengeProfile{id, profiler.id, role, part, segment, {}}) ==
            TxError::kAlreadyDisputed
        );
        const dispute::Claim claim = find_dispute(chain.view, dispute)->claim;
        CHECK(claim.seed == (part == ProfilePart::kReference ? chain.task(id).tolerance->reference_seed : 7));
        if (part == ProfilePart::kReference) {
            chain.skip(chain.params.dispute_clock_blocks);  // it has no replay that leads there
        } else {
            ToyReplay theirs(lies, claim, before);
            ToyReplay ours(canonical, claim, before);
            play(chain, dispute, theirs, ours, profiler, challenger);
        }
        CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kRefuted);
        CHECK(profile_of(chain, id, 0).status == ProfileStatus::kRefuted);
        CHECK(profile_of(chain, id, 0).bond.grains == 0);
        CHECK(chain.paid(id, Reason::kWonDispute) == std::vector<std::uint64_t>{kCoin / 2});
    }
}

TEST_CASE("PRF-5: a measurement that is reported wrongly is refuted, and a right one costs its challenger the bond") {
    const ToyRun native(kNative);
    for (const bool lies : {true, false}) {
        CAPTURE(lies);
        Chain chain(tolerance_params());
        const TaskId id = profiling_task(chain);
        Profiled profiled = profile_honestly(chain, id, native);
        const dispute::Measurement right = profiled.report.segments[1].measurement;
        if (lies) {
            profiled.report.segments[1].measurement.parameters.drift2 += 1;
        }
        const Actor& profiler = publish_one(chain, id, profiled.report);
        const Actor& challenger = profiler.id == chain.whistleblower.id ? chain.verifier : chain.whistleblower;
        const Role role = &challenger == &chain.verifier ? Role::kVerifier : Role::kWhistleblower;
        const auto part = ProfilePart::kMeasurement;
        const MeasuredRoots roots = roots_of(profiled.before[1], profiled.replayed[1], profiled.native[1]);
        CHECK(chain.fail(challenger, ChallengeProfile{id, profiler.id, role, part, 2, {}}) == TxError::kNotMeasured);
        CHECK(chain.fail(challenger, ChallengeProfile{id, profiler.id, role, part, 1, roots}) == TxError::kNotMeasured);
        CHECK(chain.fail(challenger, ChallengeProfile{id, profiler.id, role, part, 4, roots}) == TxError::kPartUnknown);
        REQUIRE(chain.run(challenger, ChallengeProfile{id, profiler.id, role, part, 2, roots}) == 0);
        const auto world = measuring_world(profiled.before[1], profiled.replayed[1], profiled.native[1]);
        const std::uint64_t seed = chain.task(id).tolerance->profile_seed;
        const auto commit = static_cast<std::uint32_t>(world.init.size() - 1);
        const dispute::testing::Lie lie{0, commit, [](canonical::Tensor& tensor) { ++tensor.data[0]; }, 0};
        dispute::testing::ScalarReplay theirs(
            world, true, seed, lies ? std::vector{lie} : std::vector<dispute::testing::Lie>{}
        );
        dispute::testing::ScalarReplay ours(
            world, true, seed, lies ? std::vector<dispute::testing::Lie>{} : std::vector{lie}
        );
        const DisputeId dispute = dispute_id(id, 2, challenger.id, {profiler.id, part});
        CHECK(
            find_dispute(chain.view, dispute)->claim.after ==
            dispute::measurement_root(profiled.report.segments[1].measurement)
        );
        play(chain, dispute, theirs, ours, profiler, challenger);
        CHECK(find_dispute(chain.view, dispute)->state() == (lies ? DisputeState::kRefuted : DisputeState::kUpheld));
        CHECK((right == profiled.report.segments[1].measurement) == !lies);
    }
}

TEST_CASE("PRF-6: the threshold is a part of d_ref, and no single profiler can move it or have the task refused") {
    const dispute::ThresholdRule rule = threshold_rule(Params{});
    std::vector<ProfileReport> reports(4, report_of(1e-3F));
    reports[1] = report_of(2e-3F);
    auto bounds = bounds_from(reports, 3, rule);
    REQUIRE(bounds.has_value());
    CHECK(bounds->threshold.parameters == kBillion / 10);
    CHECK(bounds->threshold.other == 0);
    // One liar among them, at whatever it says: neither a high sample nor a low reference counts.
    for (const float lie : {1e-2F, 1.0F, 1e9F}) {
        reports[1] = report_of(lie, 1e-9F);
        CHECK(bounds_from(reports, 3, rule)->threshold.parameters == bounds->threshold.parameters);
        CHECK(bounds_from(reports, 3, rule)->reference.parameters == bounds->reference.parameters);
    }
    // Two that agree can have it refused, and so they can when they are right.
    reports[1] = reports[2] = report_of(0.04F);
    CHECK(bounds_from(reports, 3, rule).error() == ProfilingOutcome::kNotSeparated);
    Chain chain(tolerance_params());
    const TaskId id = profiling_task(chain);
    report_all(chain, id, std::vector<ProfileReport>(4, report_of(1e-3F)));
    chain.skip(chain.params.challenge_blocks + 1);
    CHECK(chain.task(id).state == TaskState::kDrawn);
    CHECK(chain.task(id).tolerance->threshold->parameters == bounds->threshold.parameters);
    CHECK(chain.task(id).tolerance->reference->parameters == kBillion);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).locked.grains == 0);
}

TEST_CASE("PRF-7: a task whose drift is not far from d_ref, or with too few reports, is refused and pays a third") {
    const dispute::ThresholdRule rule = threshold_rule(Params{});
    std::vector<ProfileReport> reports(3, report_of(1e-2F, 0.2F));
    CHECK(bounds_from(reports, 3, rule).error() == ProfilingOutcome::kNotSeparated);
    CHECK(bounds_from(std::span(reports).first(2), 3, rule).error() == ProfilingOutcome::kTooFew);
    Chain chain(tolerance_params());
    const std::uint64_t before = chain.balance(chain.submitter);
    const TaskId id = profiling_task(chain);
    report_all(chain, id, std::vector<ProfileReport>(4, report_of(0.1F)));
    chain.skip(chain.params.challenge_blocks);
    CHECK(chain.task(id).state == TaskState::kRefused);
    CHECK(chain.paid(id, Reason::kProfilingFee) == std::vector<std::uint64_t>(4, 50'000'000));
    CHECK(chain.balance(chain.submitter) == before - 200'000'000 - kFee);
}

TEST_CASE("LIN-6: a profile of a task with a parent starts from the parent's last state, and the chain sees to it") {
    const ToyRun canonical;
    const ToyRun liar(Tamper{false, 2, 1, 2});
    Chain chain(long_params());
    const TaskId id = profiling_task(chain, complete_toy_task(chain, canonical));
    const State start = canonical.state(ToyRun::kSteps);
    ProfileReport other = report_of(1e-3F);
    other.start_root = canonical.checkpoint_root(0);
    ProfileReport report = report_of(1e-3F);
    report.start_root = root_of(start);
    report.segments[0].replayed_root = root_of(replay_from(liar, start, 0, 4));
    const auto profilers = profilers_of(chain, id);
    const Hash256 salt = hash_of("salt");
    for (std::size_t i = 0; i < 4; ++i) {
        const ProfileReport& mine = i == 1 ? other : report;
        REQUIRE(chain.run(*profilers[i], CommitProfile{id, profile_commitment(id, profilers[i]->id, mine, salt)}) == 0);
    }
    CHECK(chain.fail(*profilers[1], PublishProfile{id, other, salt}) == TxError::kNotParentsState);
    for (const std::size_t i : {0U, 2U, 3U}) {
        REQUIRE(chain.run(*profilers[i], PublishProfile{id, report, salt}) == 0);
    }
    chain.skip(chain.params.publish_blocks);
    CHECK(profile_of(chain, id, 1).status == ProfileStatus::kMissed);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>{kCoin / 10});

    const Actor& profiler = *profilers[0];
    const Actor& challenger = profiler.id == chain.whistleblower.id ? chain.verifier : chain.whistleblower;
    const Role role = &challenger == &chain.verifier ? Role::kVerifier : Role::kWhistleblower;
    CHECK(
        chain.fail(challenger, ChallengeProfile{id, profiler.id, role, ProfilePart::kStart, 0, {}}) ==
        TxError::kPartUnknown
    );
    const auto part = ProfilePart::kReplayed;
    REQUIRE(chain.run(challenger, ChallengeProfile{id, profiler.id, role, part, 1, {}}) == 0);
    const DisputeId dispute = dispute_id(id, 1, challenger.id, {profiler.id, part});
    const dispute::Claim claim = find_dispute(chain.view, dispute)->claim;
    CHECK(claim.before == root_of(start));
    ToyReplay theirs(liar, claim, start);
    ToyReplay ours(canonical, claim, start);
    play(chain, dispute, theirs, ours, profiler, challenger);
    CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kRefuted);
}

TEST_CASE("LIN-4: a task that is profiled when its ancestor is convicted is cancelled, and all its bonds return") {
    const ToyRun canonical;
    for (const ProfilingPhase phase :
         {ProfilingPhase::kDraw, ProfilingPhase::kCommit, ProfilingPhase::kPublish, ProfilingPhase::kChallenge}) {
        CAPTURE(to_string(phase));
        Chain chain(long_params());
        const TaskId parent = complete_toy_task(chain, canonical);
        const TaskId id = profile_until(chain, parent, phase);
        REQUIRE(chain.task(id).tolerance->phase == phase);
        REQUIRE(chain.run(chain.whistleblower, OpenDispute{parent, 1, Role::kWhistleblower}) == 0);
        const bool is_disputed = phase == ProfilingPhase::kChallenge;
        const Actor& profiler = *(is_disputed ? profilers_of(chain, id)[0] : &chain.stranger);
        const Actor& challenger = profiler.id == chain.verifier.id ? chain.stranger : chain.verifier;
        if (is_disputed) {
            const ChallengeProfile action{id, profiler.id, Role::kVerifier, ProfilePart::kReplayed, 1, {}};
            REQUIRE(chain.run(challenger, action) == 0);
        }
        chain.skip(chain.params.dispute_clock_blocks - (is_disputed ? 1 : 0));
        REQUIRE(chain.task(parent).state == TaskState::kConvicted);
        CHECK(chain.task(id).state == TaskState::kCancelled);
        CHECK(chain.task(id).tainted_by == parent);
        const std::uint64_t fee = is_disputed ? 600'000'000 : 0;
        CHECK(chain.paid(id, Reason::kRefund) == std::vector<std::uint64_t>{23 * kCoin - fee});
        CHECK(chain.paid(id, Reason::kProfilingFee).size() == (is_disputed ? 4U : 0U));
        for (const Actor* actor : chain.actors()) {
            CHECK(chain.stake(Role::kVerifier, *actor).locked.grains == 0);
        }
        if (is_disputed) {
            const DisputeId dispute = dispute_id(id, 1, challenger.id, {profiler.id, ProfilePart::kReplayed});
            CHECK(find_dispute(chain.view, dispute)->state() == DisputeState::kMoot);
        }
        chain.skip(2 * chain.params.dispute_clock_blocks);
        CHECK(chain.task(id).state == TaskState::kCancelled);
    }
}

TEST_CASE(
    "SET-9: profilers whose reports stand share a fifth of the fee, verifiers the rest, both taxed when it settles"
) {
    const ToyRun native(kNative);
    Params params = tolerance_params();
    params.tax_bps = 1'000;
    Chain chain(params);
    const TaskId id = measured_task(chain, 1e-4F, [&native](std::uint32_t index) {
        return native.state(std::min<std::uint64_t>(std::uint64_t{index} * ToyRun::kInterval, ToyRun::kSteps));
    });
    const Verdicts verdicts = true_verdicts(chain, id, native);
    publish_verdicts(chain, id, verdicts);
    end_task(chain, id, verdicts);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kProfilingFee) == std::vector<std::uint64_t>(4, 135'000'000));
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector<std::uint64_t>(4, 540'000'000));
    CHECK(chain.paid(id, Reason::kTax) == std::vector<std::uint64_t>{2 * kCoin, 60'000'000, 240'000'000});
}

TEST_CASE("INV-5: a profiler's bond that is not in its task is seen") {
    Chain chain(tolerance_params());
    const TaskId id = profiling_task(chain);
    Overlay state = Overlay::over(chain.view);
    Task task = chain.task(id);
    task.tolerance->profiles[1].bond = {};
    set_task(state, task);
    CHECK(check_invariants(chain.view, state.net_changes(), {}).error() == InvariantError::kLocked);
}

TEST_CASE("PAR-1.7: profiling's parameters leave enough samples for the quantile and the confidence") {
    CHECK(are_valid(Params{}));
    for (std::uint32_t Params::*member :
         {&Params::profilers_min, &Params::profile_segments, &Params::threshold_separation,
          &Params::threshold_margin_thousandths}) {
        Params params;
        params.*member = 0;
        CHECK_FALSE(are_valid(params));
    }
    Params params;
    params.threshold_quantile_ppm = 990'000;
    CHECK_FALSE(are_valid(params));
    params = {};
    params.profilers = 2;
    CHECK_FALSE(are_valid(params));
    params = {};
    params.profiling_fee_bps = 10'001;
    CHECK_FALSE(are_valid(params));
}
