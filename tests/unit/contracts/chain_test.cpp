// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/params/gas.hpp>
#include <contracts/governance/params_rules.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

TEST_CASE("BLK-1: genesis needs a chain id, sound parameters and a supply that fits") {
    Genesis genesis;
    genesis.chain_id = "a-1";
    genesis.balances[make_actor(1).id] = {5};
    genesis.balances[make_actor(2).id] = {7};
    MapView view;
    view.apply(make_genesis(genesis).value());
    CHECK(get_supply(view).genesis.grains == 12);
    CHECK(find_fault(view, {}, {}) == "");
    for (const std::string id : {"", "A", "a_b", "a b", "0123456789012345678901234567890123456789012345678"}) {
        genesis.chain_id = id;
        CHECK(make_genesis(genesis).error() == GenesisError::kChainId);
    }
    genesis.chain_id = "a-1";
    genesis.balances[make_actor(3).id] = {~std::uint64_t{0}};
    CHECK(make_genesis(genesis).error() == GenesisError::kSupplyOverflow);
    genesis.params.accept_blocks = 0;
    CHECK(make_genesis(genesis).error() == GenesisError::kParams);
}

TEST_CASE("PAR-7: tx_size_max has room for every transaction that somebody can owe") {
    Params params;
    params.tx_size_max = kMinTxSize;
    CHECK(are_valid(params));
    --params.tx_size_max;
    CHECK_FALSE(are_valid(params));
    // The largest proof that any node can ask for, and the other moves and answers, in an envelope that is full.
    const auto opening = [](canonical::DType type) {
        return dispute::TileOpening{canonical::make_tile(type), std::vector<Hash256>(38), std::vector<Hash256>(16)};
    };
    dispute::PartialProof contraction;
    contraction.before = canonical::Accumulator{Bytes(canonical::kMaxAccumulatorBytes)};
    contraction.tiles.assign(4, opening(canonical::DType::kI32));
    dispute::PartialProof sum;
    sum.before = canonical::Accumulator{Bytes(canonical::kMaxAccumulatorBytes)};
    sum.tiles = {opening(canonical::DType::kI64), opening(canonical::DType::kI32)};
    dispute::PartialProof batch;
    batch.before = canonical::Accumulator{Bytes(canonical::kMaxAccumulatorBytes)};
    batch.chunks.assign(2, dispute::ChunkOpening{Bytes(canonical::kChunkBytes), std::vector<Hash256>(36)});
    canonical::Node widest;
    widest.inputs.resize(4);
    widest.view = canonical::View{
        .dims = std::vector<std::uint32_t>(canonical::kMaxViewAxes),
        .axes = std::vector<canonical::ViewAxis>(
            canonical::kMaxViewAxes, {.strides = std::vector<std::int32_t>(canonical::kMaxViewAxes)}
        )};
    const dispute::NodeOpening node{widest, std::vector<Hash256>(16)};
    const dispute::EntryProof entry{{}, std::vector<Hash256>(12), {}, std::vector<Hash256>(16)};
    const ArtifactRef artifact{{}, 0, std::string(kMaxLocationBytes, 'a')};
    ProfileReport report;
    report.segments.resize(kMaxProfileSegments);
    for (ProfileSegment& segment : report.segments) {
        segment.location = artifact.location;
    }
    TaskSpec spec = make_spec();
    spec.title = std::string(64, 'a');
    spec.program_artifact = spec.dataset_artifact = artifact;
    spec.initial_artifact = artifact;
    spec.tokenizer = Hash256{};
    spec.evaluation = EvaluationCommitment{{}, 1, {}, artifact};
    spec.parent = TaskId{};
    spec.distance = DistanceCommitment{};
    const std::vector<Action> owed{
        ProveMove{{}, contraction},
        ProveMove{{}, sum},
        ProveMove{{}, batch},
        RevealMove{{}, 1, std::vector<Hash256>(dispute::kMaxChildren)},
        SelectMove{{}, 1, {0, node}},
        ProveMove{{}, entry},
        AttestAvailability{{}, dispute::StateOpening{0, 0, {}, opening(canonical::DType::kI64)}},
        DeclareDivergence{{}, 0, {}, artifact.location, {0, 0, {}, opening(canonical::DType::kI64)}},
        PublishProfile{{}, report, {}},
        SubmitTask{spec}};
    const std::size_t overhead = codec::encode(Tx{}).size();
    for (const Action& action : owed) {
        Tx tx;
        tx.body.chain_id = std::string(48, 'a');
        tx.body.action = action;
        tx.body.owner = AccountId{};
        CAPTURE(action_name(action));
        CHECK(codec::encode(tx).size() > overhead);
        CHECK(codec::encode(tx).size() <= kMinTxSize);
    }
}

TEST_CASE("PAR-8: a light client trusts for less than two thirds of the time in which stake unbonds") {
    Params params;
    params.validator_unbonding_ms = 3'000;
    params.trusting_period_ms = 1'999;
    CHECK(are_valid(params));
    params.trusting_period_ms = 2'000;
    CHECK_FALSE(are_valid(params));
    params.trusting_period_ms = 0;
    CHECK_FALSE(are_valid(params));
    params.trusting_period_ms = 1;
    params.validator_unbonding_ms = 1;
    CHECK_FALSE(are_valid(params));
    params.validator_unbonding_ms = kMaxSpanMs + 1;
    CHECK_FALSE(are_valid(params));
    params.validator_unbonding_ms = kMaxSpanMs;
    CHECK(are_valid(params));
}

TEST_CASE("PAR-5: draw_blocks that would pass before a task's first draw are refused") {
    Params params;
    params.contribute_blocks = 20;
    params.draw_blocks = 42;
    CHECK(are_valid(params));
    params.draw_blocks = 41;
    CHECK_FALSE(are_valid(params));
    params.draw_blocks = params.contribute_blocks = kMaxSpanBlocks;
    CHECK_FALSE(are_valid(params));
}

TEST_CASE("BLK-2: a block of any bytes gives one receipt each, in order") {
    Chain chain;
    const Bytes good = chain.make_tx(chain.submitter, Transfer{chain.pauper.id, {5}});
    chain.run_block({Bytes{1, 2, 3}, good, good});
    REQUIRE(chain.last.receipts.size() == 3);
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kUndecodable));
    CHECK(chain.last.receipts[1].code == 0);
    CHECK(chain.last.receipts[2].code == static_cast<std::uint8_t>(TxError::kNonceTooLow));
    CHECK(chain.balance(chain.pauper) == 5);
}

TEST_CASE("BLK-3: a deadline fires at the end of its block, after the block's transactions") {
    Chain chain;
    chain.bond_all();
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    chain.skip(chain.params.accept_blocks);
    CHECK(chain.task(id).deadline.value == chain.height.value + 1);
    CHECK(chain.run(chain.solver, AcceptTask{id}) == 0);
    CHECK(chain.task(id).state == TaskState::kTraining);
}

TEST_CASE("BLK-4: an empty block in which nothing is due changes nothing") {
    Chain chain;
    chain.skip(1);
    CHECK(chain.last.changes.empty());
    const TaskId id = chain.verifying_task();
    chain.skip(1);
    CHECK(chain.last.changes.empty());
    CHECK(chain.last.history.empty());
    CHECK(chain.task(id).state == TaskState::kVerifying);
}

TEST_CASE("BLK-5: draws follow the block hash and nothing else") {
    Chain chain;
    for (const Actor* actor : chain.actors()) {
        if (actor != &chain.pauper && actor != &chain.submitter) {
            CHECK(chain.run(*actor, Bond{Role::kSolver, {10 * kCoin}}) == 0);
        }
    }
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
    const TaskId id = task_id(chain.submitter.id, 0);
    CHECK(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    std::map<AccountId, int> drawn;
    for (int i = 0; i < 64; ++i) {
        BlockContext context;
        context.height = {chain.height.value + 1};
        context.block_hash = hash_of("candidate " + std::to_string(i));
        context.time_ms = static_cast<std::uint64_t>(i);
        const BlockOutcome outcome = apply_block(chain.view, kChainId, context, std::vector<Bytes>{});
        context.time_ms = 5'000;
        context.proposer = chain.stranger.id;
        CHECK(apply_block(chain.view, kChainId, context, std::vector<Bytes>{}).changes == outcome.changes);
        MapView after = chain.view;
        after.apply(outcome.changes);
        ++drawn[find_task(after, id)->solver.value()];
    }
    CHECK(drawn.size() == 4);
}

TEST_CASE("STA-1: records are the Borsh bytes of their slots") {
    Chain chain;
    const Bytes stored = chain.view.get(keys::account(chain.submitter.id)).value();
    CHECK(stored == codec::encode(Account{{kRich}, 0}));
}

TEST_CASE("STA-2: keys are a prefix byte and fixed-size parts, and no two kinds share a prefix") {
    const AccountId account = make_actor(1).id;
    const TaskId task = task_id(account, 0);
    const std::vector<Bytes> all{
        keys::params(),
        keys::supply(),
        keys::account(account),
        keys::stake(Role::kVerifier, account),
        keys::task(task),
        keys::checkpoint(task, 258),
        keys::dispute({}),
        keys::profile(task, 0),
        keys::stakers(Role::kSolver),
        keys::agenda({5}),
        keys::backlog(),
        keys::queue(Queue::kSolver),
        keys::bookkeeping(task)};
    std::map<std::uint8_t, int> prefixes;
    for (const Bytes& key : all) {
        ++prefixes[key.front()];
    }
    CHECK(prefixes.size() == all.size());
    CHECK(to_hex(keys::params()) == "01");
    CHECK(keys::account(account).size() == 33);
    CHECK(to_hex(keys::stake(Role::kVerifier, account)).substr(0, 4) == "0402");
    CHECK(to_hex(keys::checkpoint(task, 258)).substr(66) == "00000102");
}

TEST_CASE("STA-3: what a failed transaction wrote is gone, and equal values are no changes") {
    Chain chain;
    Overlay lower = Overlay::over(chain.view);
    lower.put(keys::taints(), {1});
    Overlay upper = Overlay::over(lower);
    upper.put(keys::params(), {2});
    upper.erase(keys::taints());
    CHECK_FALSE(upper.get(keys::taints()).has_value());
    CHECK(lower.get(keys::taints()).has_value());
    lower.absorb(upper.changes());
    CHECK_FALSE(lower.get(keys::taints()).has_value());
    CHECK(lower.net_changes().size() == 1);
    lower.put(keys::params(), chain.view.get(keys::params()).value());
    CHECK(lower.net_changes().empty());
}

TEST_CASE("STA-3: an overlay asks the state below for a slot once") {
    struct Counting final : StateView {
        std::optional<Bytes> get(const Bytes& key) const override {
            ++reads;
            return key == keys::params() ? std::optional(Bytes{1}) : std::nullopt;
        }
        mutable int reads = 0;
    };
    const Counting base;
    Overlay state = Overlay::over(base);
    for (int i = 0; i < 2; ++i) {
        CHECK(state.get(keys::params()) == Bytes{1});
        CHECK_FALSE(state.get(keys::taints()).has_value());
    }
    CHECK(base.reads == 2);
    CHECK(state.changes().empty());
    state.put(keys::taints(), {2});
    state.erase(keys::params());
    CHECK(state.get(keys::taints()) == Bytes{2});
    CHECK_FALSE(state.get(keys::params()).has_value());
    CHECK(state.net_changes().size() == 2);
    CHECK(base.reads == 2);
    // What is written before it was read is compared with the base all the same.
    state.put(keys::params(), {1});
    state.erase(keys::taints());
    state.erase(keys::supply());
    CHECK(state.changes().size() == 3);
    CHECK(state.net_changes().empty());
    CHECK(base.reads == 3);
}

TEST_CASE("STA-4: what the rules remember of a task goes when the task ends") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    CHECK(chain.view.get(keys::bookkeeping(id)).has_value());
    chain.end_windows(id);
    CHECK_FALSE(chain.view.get(keys::bookkeeping(id)).has_value());
    chain.skip(chain.params.draw_blocks);  // entries of deadlines that were moved are passed over when they come up
    for (const auto& [key, value] : chain.view.slots()) {
        CHECK(key.front() < static_cast<std::uint8_t>(SlotKind::kAgenda));
    }
}

TEST_CASE("HIS-1: every transition says which transaction and who, or that it was a deadline") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    chain.end_windows(id);
    const HistoryRecord& first = chain.history.front();
    CHECK(first.task == id);
    CHECK(first.index == 0);
    CHECK(std::string(event_name(first.event)) == "submitted");
    CHECK(first.actor == chain.submitter.id);
    CHECK_FALSE(first.tx.is_zero());
    const HistoryRecord& last = chain.history.back();
    CHECK(std::get<history::StateChanged>(last.event).state == TaskState::kSettled);
    CHECK(last.actor == chain.verifier.id);
    CHECK(last.height == chain.height);
    const auto by_deadline = std::find_if(chain.history.begin(), chain.history.end(), [](const HistoryRecord& entry) {
        const auto* change = std::get_if<history::StateChanged>(&entry.event);
        return change != nullptr && change->state == TaskState::kDisclosure;
    });
    REQUIRE(by_deadline != chain.history.end());
    CHECK(by_deadline->actor.is_zero());
    CHECK(by_deadline->tx.is_zero());
}

TEST_CASE("HIS-2: the history root commits to every record in order") {
    Chain chain;
    const TaskId id = chain.challenge_task();
    Hash256 root;
    for (const HistoryRecord& entry : chain.history) {
        root = extend_history(root, entry);
    }
    CHECK(chain.task(id).history_root == root);
    CHECK(chain.task(id).history_count == chain.history.size());
    HistoryRecord altered = chain.history.front();
    altered.height = {99};
    CHECK(extend_history({}, altered) != extend_history({}, chain.history.front()));
}

TEST_CASE("TX-10: every error, action, event and state has a name of its own") {
    std::map<std::string, int> names;
    for (int code = 0; code < 256; ++code) {
        ++names[to_string(static_cast<TxError>(code))];
    }
    CHECK(names.size() == 95);
    CHECK(std::string(to_string(TaskState::kSettled)) == "settled");
    CHECK(std::string(to_string(Reason::kUndisclosed)) == "undisclosed");
    CHECK(std::string(to_string(Reason::kProfilingFee)) == "profiling_fee");
    CHECK(std::string(to_string(Reason::kWithheldSecret)) == "withheld_secret");
    CHECK(std::string(to_string(TaskState::kRefused)) == "refused");
    CHECK(std::string(to_string(TaskState::kKept)) == "kept");
    CHECK(std::string(to_string(Reason::kNotShown)) == "not_shown");
    CHECK(std::string(event_name(history::KeepingEnded{})) == "keeping_ended");
    CHECK(std::string(to_string(Mode::kTolerance)) == "tolerance");
    CHECK(std::string(to_string(ProfilePart::kReferenceMeasurement)) == "reference_measurement");
    CHECK(std::string(to_string(ProfilingOutcome::kNotSeparated)) == "not_separated");
    CHECK(std::string(event_name(history::ProfilingEnded{})) == "profiling_ended");
    CHECK(std::string(action_name(ChallengeProfile{})) == "challenge_profile");
    CHECK(std::string(event_name(history::RoundClosed{})) == "round_closed");
    CHECK(std::string(action_name(LeaveBeacon{})) == "leave_beacon");
    CHECK(std::string(to_string(Role::kWhistleblower)) == "whistleblower");
    CHECK(std::string(to_string(VerdictStatus::kRefuted)) == "refuted");
    CHECK(std::string(to_string(DisputeState::kForced)) == "forced");
    CHECK(std::string(to_string(CommitteeState::kWithheld)) == "withheld");
    CHECK(std::string(to_string(Reason::kAttestation)) == "attestation");
    CHECK(std::string(action_name(AttestAvailability{})) == "attest_availability");
    CHECK(std::string(event_name(history::CommitteeEnded{})) == "committee_ended");
    CHECK(std::string(event_name(history::Attested{})) == "attested");
    CHECK(std::string(action_name(ChallengeVerdict{})) == "challenge_verdict");
    CHECK(std::string(action_name(DeclareDivergence{})) == "declare_divergence");
    CHECK(std::string(event_name(history::StateChanged{})) == "state_changed");
    CHECK(std::string(event_name(history::Diverged{})) == "diverged");
}
