// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <node/rpc/render.hpp>
#include <tests/unit/rpc/fake_node.hpp>

using namespace assay;
using namespace assay::contracts;
using assay::rpc::Json;
using assay::rpc::test::id;
using assay::rpc::test::key;

namespace {

std::set<std::string> names_of(const Json& object) {
    std::set<std::string> out;
    for (const auto& [name, value] : object.items()) {
        out.insert(name);
    }
    return out;
}

std::string address(std::uint8_t seed) { return crypto::to_address(key(seed).account()); }

template <class T>
bool raw_is(const Json& object, const T& record) {
    return object.at("raw") == to_hex(codec::encode(record));
}

Task make_task() {
    Task task;
    task.id = id<TaskId>(1);
    task.submitter = key(1).account();
    task.spec.title = "toy";
    task.spec.steps = 100;
    task.spec.checkpoint_interval = 10;
    task.spec.reward = Amount{18'000'000'000'000'000'000U};
    task.spec.verification_fee = Amount{5};
    task.state = TaskState::kTraining;
    task.submitted_at = Height{3};
    task.deadline = Height{30};
    task.solver = key(2).account();
    task.checkpoints = 1;
    task.history_count = 4;
    Assignment assignment;
    assignment.segment = 2;
    assignment.verifier = key(3).account();
    assignment.status = VerdictStatus::kCommitted;
    assignment.commitment = id<Hash256>(6);
    assignment.bond = Amount{1};
    assignment.probe = 4;
    assignment.watchers = {key(5).account()};
    task.assignments.push_back(assignment);
    return task;
}

Dispute make_dispute() {
    Dispute dispute;
    dispute.id = id<DisputeId>(2);
    dispute.task = id<TaskId>(1);
    dispute.segment = 4;
    dispute.responder = key(2).account();
    dispute.challenger = key(3).account();
    dispute.claim.first_step = 30;
    dispute.claim.step_count = 10;
    dispute.position = dispute::start_position(dispute.claim);
    dispute.onchain_bytes = 321;
    dispute.phase =
        DisputeGame{.responder_clock = 400, .challenger_clock = 300, .last_move_at = {}, .deadline = Height{77}};
    return dispute;
}

}  // namespace

TEST_CASE("amounts are decimal strings and accounts addresses") {
    CHECK(rpc::render(Amount{18'446'744'073'709'551'615U}) == "18446744073709551615");
    CHECK(rpc::render(key(1).account()) == address(1));
    CHECK(rpc::render(id<Hash256>(0xab)) == std::string(64, 'a').replace(0, 64, to_hex(id<Hash256>(0xab).view())));
}

TEST_CASE("every parameter has its name") {
    Params params;
    params.gas_price_min = Amount{12};
    params.slash_to_winner_bps = 33;
    const Json got = rpc::render(params);
    CHECK(got.size() == Params::fields().kCount);
    CHECK(got.at("gas_price_min") == "12");
    CHECK(got.at("slash_to_winner_bps") == 33);
    CHECK(got.at("hardware_classes")[0] == Json{{"name", "cpu"}, {"least_score", 10'000}});
}

TEST_CASE("a task tells what its record says") {
    const Task task = make_task();
    rpc::TaskDetails details;
    Checkpoint checkpoint;
    checkpoint.state_root = id<Hash256>(8);
    checkpoint.location = "http://127.0.0.1:1";
    const ArtifactRef artifact{id<Hash256>(7), 99, "http://127.0.0.1:1"};
    checkpoint.height = Height{9};
    details.checkpoints.push_back(checkpoint);
    details.disputes.push_back(id<DisputeId>(2));
    const Json got = rpc::render_task(task, details);
    CHECK(
        names_of(got) ==
        std::set<std::string>{
            "id",
            "title",
            "state",
            "submitter",
            "solver",
            "reward",
            "verification_fee",
            "escrow",
            "room",
            "solver_bond",
            "steps",
            "checkpoint_interval",
            "segments",
            "checkpoints",
            "diverged_at",
            "assignments",
            "deadline",
            "submitted_at",
            "open_disputes",
            "parent",
            "depth",
            "tainted_by",
            "members",
            "group",
            "hardware_class",
            "mode",
            "tolerance",
            "evaluation",
            "score",
            "committee",
            "history_count",
            "history_root",
            "lottery",
            "second_window",
            "disputes",
            "program_id",
            "tokenizer",
            "environment",
            "checks",
            "retention",
            "privacy",
            "raw"}
    );
    CHECK(got.at("state") == "training");
    CHECK(got.at("reward") == "18000000000000000000");
    CHECK(got.at("solver") == address(2));
    CHECK(got.at("segments") == 10);
    CHECK(
        got.at("checkpoints") == Json::array(
                                     {{{"index", 0},
                                       {"state_root", rpc::render(checkpoint.state_root)},
                                       {"location", "http://127.0.0.1:1"},
                                       {"height", 9},
                                       {"sealed", nullptr}}}
                                 )
    );
    CHECK(got.at("tokenizer").is_null());
    Task of_tokens = task;
    of_tokens.spec.tokenizer = id<Hash256>(10);  // TASK-20
    CHECK(rpc::render_task(of_tokens, details).at("tokenizer") == rpc::render(id<Hash256>(10)));
    CHECK(rpc::render(of_tokens.spec).at("tokenizer") == rpc::render(id<Hash256>(10)));
    CHECK(rpc::render(task.spec).at("tokenizer").is_null());
    CHECK(got.at("evaluation").is_null());
    CHECK(got.at("score").is_null());
    Task scored = task;
    scored.spec.evaluation = EvaluationCommitment{id<Hash256>(4), 300, id<Hash256>(5), artifact, 7, 11};
    scored.evaluation = Evaluation{id<Hash256>(6), 0x40200000U};
    const Json with_score = rpc::render_task(scored, details);
    CHECK(with_score.at("score") == 2.5);
    CHECK(
        with_score.at("evaluation") ==
        Json{
            {"graph_root", rpc::render(id<Hash256>(4))},
            {"nodes", 300},
            {"holdout", rpc::render(id<Hash256>(5))},
            {"data", rpc::render(artifact)},
            {"work", 7},
            {"outputs", 11}}
    );
    CHECK(got.at("assignments")[0].at("status") == "committed");
    CHECK(got.at("assignments")[0].at("end_root").is_null());
    CHECK(got.at("assignments")[0].at("probe") == 4);
    CHECK(got.at("assignments")[0].at("forced").is_null());
    CHECK(got.at("assignments")[0].at("watchers") == Json{address(5)});
    CHECK(got.at("disputes") == Json::array({rpc::render(id<DisputeId>(2))}));
    CHECK(got.at("committee").is_null());
    Task waiting = task;
    waiting.committee = Committee{
        .segments = {1, 4},
        .members = {{key(5).account(), 2, true}, {key(6).account(), 1, false}},
        .state = CommitteeState::kWithheld,
        .sitting = 2,
        .seed = id<Hash256>(9)};
    CHECK(
        rpc::render_task(waiting, details).at("committee") ==
        Json{
            {"segments", {1, 4}},
            {"members",
             {{{"account", address(5)}, {"seats", 2}, {"has_attested", true}},
              {{"account", address(6)}, {"seats", 1}, {"has_attested", false}}}},
            {"state", "withheld"},
            {"sitting", 2},
            {"seed", rpc::render(id<Hash256>(9))}}
    );
    CHECK(raw_is(got, task));
    Task fresh = make_task();
    fresh.solver.reset();
    const Json summary = rpc::render_task_summary(fresh);
    CHECK(
        names_of(summary) ==
        std::set<std::string>{
            "id", "title", "state", "submitter", "solver", "reward", "checkpoints", "segments", "submitted_at"}
    );
    CHECK(summary.at("solver").is_null());
    CHECK(summary.at("checkpoints") == 1);
}

TEST_CASE("a dispute tells where it stands and who is to move") {
    Dispute dispute = make_dispute();
    node::DisputeMove move;
    move.tx = id<Hash256>(1);
    move.height = Height{5};
    move.action = "open_dispute";
    move.size_bytes = 222;
    const Json got = rpc::render_dispute(dispute, 3.5, {move});
    CHECK(
        names_of(got) ==
        std::set<std::string>{
            "id",
            "task",
            "segment",
            "responder",
            "challenger",
            "state",
            "reason",
            "level",
            "rounds",
            "to_move",
            "pinpoint",
            "responder_clock",
            "challenger_clock",
            "deadline",
            "opened_at",
            "ended_at",
            "onchain_bytes",
            "referee_us",
            "slashed",
            "paid",
            "burned",
            "subject",
            "part",
            "second",
            "seal",
            "moves",
            "raw"}
    );
    CHECK(got.at("state") == "active");
    CHECK(got.at("reason").is_null());
    CHECK(got.at("level") == dispute::to_string(dispute::Level::kSteps));
    CHECK(got.at("to_move") == "responder");
    CHECK(got.at("responder_clock") == 400);
    CHECK(got.at("deadline") == 77);
    CHECK(got.at("ended_at") == 0);
    CHECK(names_of(got.at("pinpoint")) == std::set<std::string>{"step", "node", "op", "tile", "partial", "tensor"});
    CHECK(got.at("pinpoint").at("node").is_null());
    CHECK(got.at("referee_us") == 3.5);
    CHECK(
        got.at("moves")[0] ==
        Json{{"tx", rpc::render(move.tx)}, {"height", 5}, {"action", "open_dispute"}, {"size_bytes", 222}}
    );
    CHECK(raw_is(got, dispute));
    std::get<dispute::Bisection>(dispute.position.at).pending.push_back(id<Hash256>(1));
    CHECK(rpc::render_dispute_summary(dispute, std::nullopt).at("to_move") == "challenger");
    dispute.phase = DisputeEnd{
        .outcome = DisputeOutcome::kRefuted,
        .reason = Reason::kLostDispute,
        .at = Height{90},
        .slashed = Amount{10},
        .paid = {},
        .burned = {}};
    const Json ended = rpc::render_dispute_summary(dispute, std::nullopt);
    CHECK(ended.at("state") == "refuted");
    CHECK(ended.at("reason") == "lost_dispute");
    CHECK(ended.at("to_move").is_null());
    CHECK(ended.at("referee_us").is_null());
    CHECK(ended.at("slashed") == "10");
    CHECK(ended.at("ended_at") == 90);
    CHECK(ended.at("responder_clock").is_null());
    CHECK(ended.at("deadline") == 0);
    CHECK_FALSE(ended.contains("raw"));
    CHECK_FALSE(ended.contains("moves"));
}

TEST_CASE("stakes and checkpoints carry their members") {
    Stake stake;
    stake.free = Amount{1};
    stake.locked = Amount{2};
    stake.unbonding = {Unbonding{Amount{3}, Height{4}, 0}, Unbonding{Amount{5}, Height{6}, 7}};
    Json expected{{"free", "1"}, {"locked", "2"}};
    expected["unbonding"] = Json::array(
        {{{"amount", "3"}, {"release_at", 4}, {"release_ms", nullptr}},
         {{"amount", "5"}, {"release_at", 6}, {"release_ms", 7}}}
    );
    expected["is_unlisted"] = false;
    expected["declined_until"] = nullptr;
    CHECK(rpc::render(stake) == expected);
    stake.declined_until = Height{9};
    CHECK(rpc::render(stake).at("declined_until") == 9);
    Checkpoint checkpoint;
    const Json got = rpc::render_checkpoint(id<TaskId>(1), 2, checkpoint);
    CHECK(names_of(got) == std::set<std::string>{"task", "index", "state_root", "location", "height", "sealed", "raw"});
    CHECK(raw_is(got, checkpoint));
}

TEST_CASE("each action shows its members") {
    sealed::PieceOpening piece;
    piece.group = 2;
    piece.chunk = 4;
    piece.piece = 1;
    const std::vector<Action> actions{
        Transfer{key(1).account(), Amount{5}},
        Bond{},
        Unbond{},
        SubmitTask{},
        AcceptTask{},
        PostCheckpoint{},
        CompleteTask{},
        CancelTask{},
        CommitVerdict{},
        PublishVerdict{},
        OpenDispute{},
        RevealMove{},
        SelectMove{},
        ProveMove{},
        AttestAvailability{},
        DeclareDivergence{},
        DiscloseVerdict{},
        ChallengeVerdict{},
        RegisterValidator{},
        Unjail{},
        RegisterTerms{},
        CommitProfile{},
        PublishProfile{},
        ChallengeProfile{},
        JoinBeacon{},
        Contribute{},
        LeaveBeacon{},
        DeclineTask{},
        Accuse{},
        ReportEquivocation{},
        Reseat{},
        Demand{},
        ProposeParams{.changes = {{VotableParam::kJailBlocks, 9}}},
        ProposeUpgrade{.height = Height{7}, .protocol_version = 4},
        ProposeHalt{},
        Vote{},
        NameOperator{.account = key(1).account()},
        ShowResult{.task = {}, .opening = piece},
        ShareKeys{.task = {}, .key = {}, .shares = {{key(1).account(), {}, {}}}},
        ReportWrongKeys{.task = {}, .is_of_checkpoints = true, .share = {}, .evidence = {}},
        ReportWrongChunk{.task = {}, .checkpoint = 2, .evidence = {}}};
    REQUIRE(actions.size() == std::variant_size_v<Action>);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        REQUIRE(actions[i].index() == i);
        const Json got = rpc::render(actions[i]);
        CAPTURE(action_name(actions[i]));
        CHECK(got.is_object());
        const bool has_none = std::holds_alternative<Unjail>(actions[i]) ||
                              std::holds_alternative<LeaveBeacon>(actions[i]) ||
                              std::holds_alternative<ProposeHalt>(actions[i]);
        CHECK(got.empty() == has_none);
    }
    CHECK(rpc::render(actions[0]) == Json{{"to", address(1)}, {"amount", "5"}});
    CHECK(rpc::render(actions[1]) == Json{{"role", "solver"}, {"amount", "0"}});
    CHECK(rpc::render(actions[32]) == Json{{"changes", {{{"param", "jail_blocks"}, {"value", 9}}}}});
    CHECK(rpc::render(actions[36]) == Json{{"account", address(1)}});
    CHECK(rpc::render(NameOperator{}) == Json{{"account", nullptr}});
    const auto without_task = [&](std::size_t i) {
        Json out = rpc::render(actions[i]);
        out.erase("task");
        return out;
    };
    CHECK(without_task(14) == Json{{"tensor", 0}, {"tile", 0}, {"piece", nullptr}});
    CHECK(without_task(37) == Json{{"tensor", 2}, {"tile", 4}, {"piece", 1}});
    CHECK(without_task(38) == Json{{"key", nullptr}, {"to", {address(1)}}});
    CHECK(without_task(39) == Json{{"is_of_checkpoints", true}});
    CHECK(without_task(40) == Json{{"checkpoint", 2}, {"group", 0}, {"chunk", 0}});
    CHECK(rpc::render(actions[33]) == Json{{"height", 7}, {"protocol_version", 4}});
}

TEST_CASE("bytes in a block that are no transaction have no body") {
    node::StoredTx tx;
    tx.bytes = Bytes{1, 2, 3};
    tx.height = Height{4};
    tx.receipt.tx = id<Hash256>(1);
    tx.receipt.code = 1;
    const Json got = rpc::render_tx(tx, true);
    CHECK(got.at("status") == "failed");
    CHECK(got.at("error") == "undecodable");
    CHECK(got.at("body").is_null());
    CHECK(got.at("nonce").is_null());
    CHECK(got.at("raw") == "010203");
}
