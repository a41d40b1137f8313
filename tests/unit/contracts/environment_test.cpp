// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/spec.hpp>
#include <contracts/state/environment.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/contracts/groups.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

Environment make_environment() { return {.image = hash_of("image"), .labels = {"cuda=12.4", "driver=550"}}; }

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

std::vector<ResultCheck> make_checks() {
    return {
        check::Finite{}, check::Declared{.tensor = 0, .dtype = canonical::DType::kF32, .shape = {1, 1}},
        check::Range{.tensor = 0, .least = bits(-1.0F), .most = bits(1.0F)}, check::Labels{.tensor = 0, .classes = 10}};
}

TaskId submit(Chain& chain, const TaskSpec& spec) {
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    return id;
}

RegisterTerms offer(const std::optional<Environment>& environment) {
    return {.role = Role::kSolver, .terms = {.offers = fingerprints(environment)}, .score = 0};
}

/// Params under which a draw that fails is repeated soon, and a task waits for long.
Params patient_params() {
    Params params = quick_params();
    params.draw_blocks = 100;
    params.accept_blocks = 50;
    return params;
}

/// The last event of this kind.
template <class Event>
Event last_of(const Chain& chain) {
    const auto found = std::find_if(chain.history.rbegin(), chain.history.rend(), [](const HistoryRecord& record) {
        return std::holds_alternative<Event>(record.event);
    });
    REQUIRE(found != chain.history.rend());
    return std::get<Event>(found->event);
}

/// Through training and the draw of verifiers, which have committed.
TaskId committed_task(Chain& chain, const TaskSpec& spec) {
    chain.bond_all();
    const TaskId id = chain.start_task(spec);
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    chain.commit_all(id);
    while (chain.task(id).lottery.is_zero()) {
        chain.skip(1);
    }
    return id;
}

PublishVerdict published(const Chain& chain, const TaskId& id) {
    const Assignment due = chain.task(id).assignments.front();
    const Actor& who = chain.actor_of(due.verifier);
    const Hash256 root = claimed_root(chain.view, chain.task(id), due.segment);
    const VerdictOpening opening = chain.opening(who, id, due.segment, root);
    const bool forced = is_forced(chain.task(id), due, opening, chain.params.forced_error_bps);
    return {id, due.segment, published_verdict(chain.task(id), due, opening, forced)};
}

}  // namespace

TEST_CASE("ENV-1: an environment names an image or labels that are printable, in order and within their limits") {
    CHECK(is_sound(make_environment()));
    CHECK(is_sound({.image = hash_of("image"), .labels = {}}));
    CHECK(is_sound({.image = {}, .labels = {"a="}}));
    CHECK(is_sound({.image = {}, .labels = {"a=" + std::string(62, 'x')}}));
    CHECK(is_sound({.image = {}, .labels = {"a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1", "h=1"}}));
    const std::vector<std::vector<std::string>> wrong{
        {},
        {"cuda"},
        {"=1"},
        {"a b=1"},
        {"a=\x7f"},
        {"a=" + std::string(63, 'x')},
        {"b=1", "a=1"},
        {"a=1", "a=1"},
        {"a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1", "h=1", "i=1"},
        {"a=" + std::string(62, 'x'), "b=" + std::string(62, 'x'), "c=" + std::string(62, 'x'),
         "d=" + std::string(62, 'x'), "e="}};
    for (const auto& labels : wrong) {
        CHECK_FALSE(is_sound({.image = {}, .labels = labels}));
    }
}

TEST_CASE("ENV-2: a statement satisfies what is asked for if it has the image and each label") {
    const Environment stated = make_environment();
    CHECK(satisfies(stated, {.image = {}, .labels = {"cuda=12.4"}}));
    CHECK(satisfies(stated, {.image = hash_of("image"), .labels = {}}));
    CHECK(satisfies(stated, stated));
    CHECK_FALSE(satisfies(stated, {.image = hash_of("other"), .labels = {}}));
    CHECK_FALSE(satisfies(stated, {.image = {}, .labels = {"cuda=12.5"}}));
    CHECK_FALSE(satisfies({.image = {}, .labels = stated.labels}, stated));
    CHECK(satisfies(std::optional<Environment>{}, std::optional<Environment>{}));
    CHECK(satisfies(std::optional(stated), std::optional<Environment>{}));
    CHECK_FALSE(satisfies(std::optional<Environment>{}, std::optional(stated)));
}

TEST_CASE("TASK-2.11: a specification asks for a sound environment or for none") {
    Chain chain;
    TaskSpec spec = make_spec();
    spec.environment = make_environment();
    CHECK(check_spec(spec).has_value());
    CHECK(codec::decode<TaskSpec>(codec::encode(spec)).value() == spec);
    spec.environment->labels = {"no label"};
    CHECK(check_spec(spec).error() == TxError::kSpecInvalid);
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSpecInvalid);
    spec.environment = Environment{};
    CHECK(check_spec(spec).error() == TxError::kSpecInvalid);
}

TEST_CASE("ENV-3: a fingerprint is the beginning of the tagged hash of the image or of a label") {
    static const crypto::TaggedHash kTag("assay/environment");
    const Hash256 hash = kTag(as_bytes("label=cuda=12.4"));
    std::uint64_t expected = 0;
    for (std::size_t i = 8; i > 0; --i) {
        expected = expected << 8U | hash.data[i - 1];
    }
    CHECK(fingerprints(Environment{.image = {}, .labels = {"cuda=12.4"}}) == std::vector{expected});
    const auto all = fingerprints(make_environment());
    CHECK(all.size() == 3);
    CHECK(std::is_sorted(all.begin(), all.end()));
    CHECK(fingerprints(std::nullopt).empty());
}

TEST_CASE("ENV-3: only solvers offer environments, in ascending order and each fingerprint once") {
    Chain chain;
    const auto with = [](Role role, std::vector<std::uint64_t> offers) {
        return RegisterTerms{.role = role, .terms = {.offers = std::move(offers)}, .score = 0};
    };
    CHECK(chain.fail(chain.verifier, with(Role::kVerifier, {1})) == TxError::kFieldOutOfRange);
    CHECK(chain.fail(chain.solver, with(Role::kSolver, {2, 1})) == TxError::kFieldOutOfRange);
    CHECK(chain.fail(chain.solver, with(Role::kSolver, {1, 1})) == TxError::kFieldOutOfRange);
    CHECK(chain.fail(chain.solver, with(Role::kSolver, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) == TxError::kFieldOutOfRange);
    CHECK(chain.run(chain.solver, with(Role::kSolver, {0, 1, 2, 3, 4, 5, 6, 7, 8})) == 0);
    CHECK(get_terms(chain.view, Role::kSolver, chain.solver.id).terms.offers.size() == kMaxOffers);
    CHECK(chain.run(chain.solver, with(Role::kSolver, {})) == 0);
    CHECK_FALSE(chain.view.get(keys::terms(Role::kSolver, chain.solver.id)).has_value());
}

TEST_CASE("ENV-3: a solver is drawn among those who offer what the task asks for, and the task waits for one") {
    Chain chain(patient_params());
    chain.bond_all();
    REQUIRE(chain.run(chain.stranger, Bond{Role::kSolver, {500 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.stranger, offer(Environment{.image = {}, .labels = {"cuda=11.8"}})) == 0);
    TaskSpec spec = make_spec();
    spec.environment = Environment{.image = {}, .labels = {"cuda=12.4"}};
    const TaskId id = submit(chain, spec);
    chain.skip(5);
    CHECK(chain.task(id).state == TaskState::kOpen);
    CHECK(chain.stake(Role::kSolver, chain.stranger).locked.grains == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);  // nobody pays for a draw that cannot suit
    REQUIRE(chain.run(chain.solver, offer(make_environment())) == 0);
    chain.await_solver(id);
    CHECK(chain.task(id).solver == chain.solver.id);
    const TaskId any = submit(chain, make_spec());
    chain.skip(1);
    CHECK(chain.task(any).state == TaskState::kDrawn);  // by either
}

TEST_CASE("ENV-3: a member of a group offers what the task asks for") {
    Chain chain(patient_params());
    chain.bond_all();
    chain.add_verifiers(1);
    REQUIRE(chain.run(chain.solver, offer(make_environment())) == 0);
    TaskSpec spec = make_spec();
    spec.members = 2;
    spec.environment = Environment{.image = {}, .labels = {"cuda=12.4"}};
    const TaskId id = drawn_group_task(chain, spec);
    const std::size_t one = add_partner(chain, {member_bond(chain.params, task_value(spec)).grains});
    AcceptTask acceptance = make_acceptance(id, {&chain.solver, &chain.others[one]});
    acceptance.environment = make_environment();
    CHECK(chain.fail(chain.solver, acceptance) == TxError::kSeatsInvalid);
    REQUIRE(chain.run(chain.others[one], offer(make_environment())) == 0);
    CHECK(chain.run(chain.solver, acceptance) == 0);
    // Each member says with its own checkpoints where it runs.
    const PostCheckpoint first{id, 0, hash_of("0"), {}, Environment{.image = {}, .labels = {"cuda=12.5"}}};
    REQUIRE(chain.run(chain.solver, first) == 0);
    CHECK(last_of<history::CheckpointPosted>(chain).environment == first.environment);
}

TEST_CASE("ENV-4: an acceptance states what the task asks for, and the history has the whole statement") {
    Chain chain(patient_params());
    chain.bond_all();
    REQUIRE(chain.run(chain.solver, offer(make_environment())) == 0);
    TaskSpec spec = make_spec();
    spec.environment = Environment{.image = hash_of("image"), .labels = {"cuda=12.4"}};
    const TaskId id = submit(chain, spec);
    chain.await_solver(id);
    AcceptTask acceptance{.task = id};
    CHECK(chain.fail(chain.solver, acceptance) == TxError::kEnvironmentMismatch);
    acceptance.environment = Environment{.image = hash_of("other"), .labels = {"cuda=12.4"}};
    CHECK(chain.fail(chain.solver, acceptance) == TxError::kEnvironmentMismatch);
    acceptance.environment = Environment{};
    CHECK(chain.fail(chain.solver, acceptance) == TxError::kFieldOutOfRange);
    acceptance.environment = make_environment();
    REQUIRE(chain.run(chain.solver, acceptance) == 0);
    CHECK(chain.task(id).state == TaskState::kTraining);
    CHECK(last_of<history::Accepted>(chain).environment == make_environment());
}

TEST_CASE("ENV-4: a task that asks for nothing is accepted with any statement and with none") {
    for (const std::optional<Environment>& stated : {std::optional<Environment>{}, std::optional(make_environment())}) {
        Chain chain(patient_params());
        chain.bond_all();
        const TaskId id = submit(chain, make_spec());
        chain.await_solver(id);
        AcceptTask acceptance{.task = id};
        acceptance.environment = stated;
        REQUIRE(chain.run(chain.solver, acceptance) == 0);
        CHECK(last_of<history::Accepted>(chain).environment == stated);
    }
}

TEST_CASE("ENV-5: a checkpoint states where its segment was computed, and a restart elsewhere is recorded") {
    Chain chain;
    chain.bond_all();
    REQUIRE(chain.run(chain.solver, offer(make_environment())) == 0);
    TaskSpec spec = make_spec();
    spec.environment = make_environment();
    const TaskId id = submit(chain, spec);
    chain.await_solver(id);
    AcceptTask acceptance{.task = id};
    acceptance.environment = make_environment();
    REQUIRE(chain.run(chain.solver, acceptance) == 0);
    PostCheckpoint post{id, 0, hash_of("0"), {}, Environment{}};
    CHECK(chain.fail(chain.solver, post) == TxError::kFieldOutOfRange);
    const std::vector<std::optional<Environment>> statements{
        make_environment(), Environment{.image = hash_of("other"), .labels = {}}, std::nullopt};
    for (std::uint32_t i = 0; i < statements.size(); ++i) {
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, i, hash_of("x"), {}, statements[i]}) == 0);
        CHECK(last_of<history::CheckpointPosted>(chain).environment == statements[i]);
    }
}

TEST_CASE("ENV-5: the longest statements fit into answers that pay no fee") {
    Environment longest{.image = hash_of("image"), .labels = {}};
    for (char key = 'a'; key < 'a' + 8; ++key) {
        longest.labels.push_back(std::string(1, key) + "=" + std::string(30, 'x'));
    }
    REQUIRE(is_sound(longest));
    Chain chain;
    const PostCheckpoint post{TaskId{}, 0, {}, std::string(kMaxLocationBytes, 'a'), longest};
    CHECK(chain.make_tx(chain.solver, post).size() <= PostCheckpoint::kAnswer.bytes_max);
    AcceptTask acceptance{};
    acceptance.environment = longest;
    CHECK(chain.make_tx(chain.solver, acceptance).size() <= AcceptTask::kAnswer.bytes_max);
}

TEST_CASE("CHK-1 and TASK-2.12: checks are few, about tensors of the state, and can hold") {
    Chain chain;
    TaskSpec spec = make_spec();
    spec.checks = make_checks();
    CHECK(check_spec(spec).has_value());
    CHECK(codec::decode<TaskSpec>(codec::encode(spec)).value() == spec);
    const std::uint32_t beyond = spec.program.state_tensors;
    const std::uint32_t infinite = 0x7f80'0000;
    const std::vector<ResultCheck> wrong{
        check::Finite{beyond},
        check::Declared{.tensor = beyond, .dtype = canonical::DType::kF32, .shape = {1, 1}},
        check::Declared{.tensor = 0, .dtype = canonical::DType::kF32, .shape = {0, 1}},
        check::Declared{.tensor = 0, .dtype = canonical::DType::kF32, .shape = {1, canonical::kMaxDimension + 1}},
        check::Range{.tensor = beyond, .least = 0, .most = 0},
        check::Range{.tensor = 0, .least = bits(1.0F), .most = bits(0.5F)},
        check::Range{.tensor = 0, .least = bits(-1.0F), .most = bits(-2.0F)},
        check::Range{.tensor = 0, .least = bits(1.0F), .most = infinite},
        check::Range{.tensor = 0, .least = infinite | 1U, .most = infinite | 1U},
        check::Labels{.tensor = beyond, .classes = 2},
        check::Labels{.tensor = 0, .classes = 0},
        check::Labels{.tensor = 0, .classes = kMaxClasses + 1}};
    for (const ResultCheck& each : wrong) {
        spec.checks = {each};
        CHECK(check_spec(spec).error() == TxError::kSpecInvalid);
    }
    CHECK(are_sound({check::Range{.tensor = 0, .least = bits(0.0F), .most = bits(-0.0F)}}, 1));
    spec.checks.assign(kMaxResultChecks, check::Finite{});
    CHECK(check_spec(spec).has_value());
    spec.checks.assign(kMaxResultChecks + 1, check::Finite{});
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSpecInvalid);
}

TEST_CASE("CHK-3: a verdict reports exactly where the task has checks, and on no check beyond the last") {
    Chain chain;
    TaskSpec spec = make_spec();
    spec.checks = make_checks();
    const TaskId id = committed_task(chain, spec);
    const Actor& who = chain.actor_of(chain.task(id).assignments.front().verifier);
    PublishVerdict verdict = published(chain, id);
    verdict.verdict.failed_checks.reset();
    CHECK(chain.fail(who, verdict) == TxError::kChecksMismatch);
    verdict.verdict.failed_checks = 1U << spec.checks.size();
    CHECK(chain.fail(who, verdict) == TxError::kChecksMismatch);
    Chain plain;
    const TaskId other = committed_task(plain, make_spec());
    PublishVerdict unasked = published(plain, other);
    unasked.verdict.failed_checks = 0;
    const Actor& verifier = plain.actor_of(plain.task(other).assignments.front().verifier);
    CHECK(plain.fail(verifier, unasked) == TxError::kChecksMismatch);
}

TEST_CASE("CHK-4: failed checks are recorded and change no payment") {
    std::vector<std::uint64_t> balances;
    for (const std::uint32_t failed : {0U, 5U}) {
        Chain chain;
        chain.failed_checks = failed;
        TaskSpec spec = make_spec();
        spec.checks = make_checks();
        const TaskId id = committed_task(chain, spec);
        chain.publish_all(id);
        CHECK(last_of<history::VerdictPublished>(chain).verdict.failed_checks == failed);
        for (const Assignment& assignment : chain.task(id).assignments) {
            CHECK(assignment.failed_checks == failed);
        }
        chain.end_windows(id);
        CHECK(chain.task(id).state == TaskState::kSettled);
        CHECK(chain.task(id).assignments.front().failed_checks == failed);
        balances.push_back(chain.balance(chain.solver));
    }
    CHECK(balances[0] == balances[1]);
}

TEST_CASE("CHK-5: a report is committed to before any is shown, and another one breaks the commitment") {
    Chain chain;
    TaskSpec spec = make_spec();
    spec.checks = make_checks();
    const TaskId id = committed_task(chain, spec);
    const Assignment due = chain.task(id).assignments.front();
    const Actor& who = chain.actor_of(due.verifier);
    PublishVerdict verdict = published(chain, id);
    verdict.verdict.failed_checks = 3;  // its commitment is to a report without failures
    REQUIRE(chain.run(who, verdict) == 0);
    chain.publish_all(id);
    while (chain.task(id).state != TaskState::kDisclosure) {
        chain.skip(1);
    }
    const Hash256 root = claimed_root(chain.view, chain.task(id), due.segment);
    REQUIRE(chain.disclose(who, id, due.segment, root) == 0);
    CHECK(chain.slashed(id, Reason::kBrokenCommitment).size() == 1);
}
