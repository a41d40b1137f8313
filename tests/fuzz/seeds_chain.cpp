// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <consensus/cometbft/bundle.hpp>
#include <consensus/solo/block_log.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>
#include <tests/fuzz/chain_shapes.hpp>
#include <tests/fuzz/seeds.hpp>

namespace assay::fuzz {
namespace {

using namespace contracts;

crypto::SecretKey key() {
    Bytes secret(32);
    secret.back() = 3;
    return crypto::SecretKey::from_bytes(secret).value();
}

TaskSpec make_spec() {
    TaskSpec spec;
    spec.title = "a task";
    spec.program = {
        .state_tensors = 3,
        .init_nodes = 4,
        .step_nodes = 50,
        .init_root = {},
        .step_root = {},
        .batch_size = 4,
        .dataset = {.rows = 100, .width = 3},
        .initial_root = {}};
    spec.program_artifact = {.sha256 = {}, .size_bytes = 1000, .location = "http://127.0.0.1:4000"};
    spec.dataset_artifact = spec.program_artifact;
    spec.steps = 10;
    spec.checkpoint_interval = 4;
    spec.reward = Amount{5'000'000'000};
    spec.verification_fee = Amount{1'000'000'000};
    spec.training_blocks = 100;
    return spec;
}

TaskSpec make_stacked_spec() {
    TaskSpec spec = make_spec();
    spec.parent = TaskId{};
    spec.tokenizer = Hash256{};
    return spec;
}

ProfileReport make_report() {
    ProfileReport report;
    report.segments.resize(3);
    report.segments[1].measurement.parameters.drift2 = 0x3f800000;
    return report;
}

/// One piece of a statement, of a tensor's tile or of a part.
dispute::StatedPiece make_stated(std::optional<canonical::PartRange> part = std::nullopt) {
    dispute::StatedPiece stated;
    stated.piece.index = 3;
    stated.piece.part = part;
    stated.piece.rows = stated.piece.cols = 2;
    stated.piece.width = 4;
    stated.statement.step = 5;
    stated.statement.pieces = 4;
    stated.path.resize(2);
    return stated;
}

Accuse make_accuse(const dispute::StatedPiece& stated, decltype(dispute::Contradiction::evidence) evidence) {
    return {
        .task = {},
        .member = key().account(),
        .signature = {},
        .contradiction = {.stated = stated, .state_root = {}, .evidence = std::move(evidence)},
        .answers = {}};
}

/// One action of every kind.
sealed::PieceOpening make_piece() {
    sealed::PieceOpening out;
    out.groups = out.chunks = 1;
    out.bytes = Bytes(16);
    return out;
}

sealed::WrongChunk make_wrong_chunk() {
    sealed::WrongChunk out;
    out.opening.groups = out.opening.chunks = 1;
    out.opening.bytes = Bytes(16);
    return out;
}

std::vector<Action> all_actions() {
    const canonical::Node node{.op = canonical::Op::kFill, .dtype = canonical::DType::kF32, .shape = {1, 1}};
    const dispute::TileOpening opening{
        .tile = {.dtype = canonical::DType::kF32, .data = Bytes(16)},
        .tile_path = std::vector<Hash256>(2),
        .source_path = std::vector<Hash256>(1)};
    dispute::PartialProof proof;
    proof.before = canonical::Accumulator{Bytes(8)};
    proof.tiles = {opening};
    proof.chunks = {dispute::ChunkOpening{.data = Bytes(12), .path = std::vector<Hash256>(3)}};
    const dispute::Selection selection{.child = 1, .node = dispute::NodeOpening{.node = node, .path = {Hash256{}}}};
    return {
        Transfer{.to = key().account(), .amount = Amount{7}},
        Bond{.role = Role::kVerifier, .amount = Amount{9}},
        Unbond{.role = Role::kSolver, .amount = Amount{9}},
        SubmitTask{.spec = make_stacked_spec()},
        AcceptTask{},
        PostCheckpoint{.task = {}, .index = 1, .state_root = {}, .location = make_spec().program_artifact.location},
        CompleteTask{},
        CompleteTask{.task = {}, .evaluation = Evaluation{.tensors_root = {}, .score = 0x3f800000}},
        CancelTask{},
        CommitVerdict{.task = {}, .segment = 2, .commitment = {}},
        PublishVerdict{.task = {}, .segment = 2, .verdict = {.end_root = {}, .probe_root = Hash256{}}},
        PublishVerdict{
            .task = {},
            .segment = 2,
            .verdict = {.end_root = {}, .probe_root = {}, .diverged_after = 3},
            .divergence =
                dispute::StateOpening{
                    .tensor = 1,
                    .tile = 0,
                    .type = {.dtype = canonical::DType::kF32, .shape = {4, 1}},
                    .opening = opening}},
        OpenDispute{.task = {}, .segment = 1, .role = Role::kWhistleblower},
        RevealMove{.dispute = {}, .round = 1, .children = std::vector<Hash256>(4)},
        SelectMove{.dispute = {}, .round = 1, .selection = selection},
        ProveMove{.dispute = {}, .proof = proof},
        AttestAvailability{
            .task = {},
            .opening =
                dispute::StateOpening{
                    .tensor = 1,
                    .tile = 0,
                    .type = {.dtype = canonical::DType::kF32, .shape = {4, 1}},
                    .opening = opening}},
        DeclareDivergence{
            .task = {},
            .step = 3,
            .state_root = {},
            .location = make_spec().program_artifact.location,
            .opening =
                {.tensor = 1,
                 .tile = 0,
                 .type = {.dtype = canonical::DType::kF32, .shape = {4, 1}},
                 .opening = opening}},
        DiscloseVerdict{.task = {}, .segment = 2, .opening = {}},
        ChallengeVerdict{.task = {}, .segment = 2, .verifier = key().account(), .role = Role::kWhistleblower},
        RegisterValidator{.key = {}, .proof = {}},
        Unjail{},
        RegisterTerms{
            .role = Role::kVerifier,
            .terms = {.hardware_class = 2, .price = 7, .memory = 9, .replay_blocks = 3},
            .score = 5},
        CommitProfile{},
        PublishProfile{.task = {}, .report = make_report(), .salt = {}},
        ChallengeProfile{
            .task = {},
            .profiler = key().account(),
            .role = Role::kVerifier,
            .part = ProfilePart::kMeasurement,
            .segment = 2,
            .roots = MeasuredRoots{}},
        JoinBeacon{},
        Contribute{},
        LeaveBeacon{},
        DeclineTask{},
        make_accuse(
            make_stated(),
            dispute::OutputEvidence{
                .trace_root = {}, .type = {.dtype = canonical::DType::kF32, .shape = {4, 4}}, .opening = opening}
        ),
        make_accuse(
            make_stated(),
            dispute::StateEvidence{.type = {.dtype = canonical::DType::kF32, .shape = {4, 4}}, .opening = opening}
        ),
        make_accuse(
            make_stated(canonical::PartRange{.first = 1, .count = 3, .run = 2, .period = 4}),
            dispute::PartEvidence{
                .trace_root = {},
                .node = {.node = node, .path = std::vector<Hash256>(6)},
                .accumulator = canonical::Accumulator{Bytes(16)}}
        ),
        ReportEquivocation{
            .task = {},
            .member = key().account(),
            .one = make_stated(),
            .one_signature = {},
            .other = make_stated(),
            .other_signature = {}},
        Reseat{.task = {}, .from = 2, .seats = {key().account(), key().account()}, .signatures = {Signature{}}},
        Demand{.task = {}, .member = key().account()},
        ProposeParams{.changes = {{VotableParam::kJailBlocks, 9}}},
        ProposeUpgrade{.height = Height{9'000'000}, .protocol_version = 4},
        ProposeHalt{},
        Vote{.proposal = {}, .in_favour = true},
        NameOperator{.account = key().account()},
        ShowResult{.task = {}, .opening = make_piece()},
        ShareKeys{.task = {}, .key = sealed::TaskKey{}, .shares = {{key().account(), Bytes(193), Bytes(193)}}},
        ReportWrongKeys{.task = {}, .is_of_checkpoints = true, .share = Bytes(193), .evidence = {}},
        ReportWrongChunk{.task = {}, .checkpoint = 1, .evidence = make_wrong_chunk()},
    };
}

Tx sign(std::uint64_t nonce, Action action) {
    return sign_tx(
        {.chain_id = "assay-fuzz",
         .sender = key().account(),
         .nonce = nonce,
         .fee = Amount{1'000'000},
         .action = std::move(action)},
        key()
    );
}

std::vector<Bytes> write_txs(const CorpusWriter& out) {
    std::vector<Bytes> txs;
    for (const Action& action : all_actions()) {
        txs.push_back(codec::encode(sign(txs.size(), action)));
        out.write("tx", action_name(action), txs.back());
        Bytes stored{0};
        append(stored, txs.back());
        out.write("rpc", std::string("show_") + action_name(action), stored);
    }
    return txs;
}

template <class T>
void write_record(const CorpusWriter& out, std::uint8_t choice, const std::string& name, const T& value) {
    Bytes bytes{choice};
    codec::encode_to(bytes, value);
    out.write("records", name, bytes);
}

void write_records(const CorpusWriter& out) {
    Task task;
    task.spec = make_spec();
    task.solver = key().account();
    task.assignments.resize(2);
    task.assignments[0].probe_root = Hash256{};
    task.assignments[0].forced = true;
    task.assignments[0].watchers.resize(2);
    task.depth = 1;
    task.tainted_by = TaskId{};
    write_record(out, 0, "task", task);
    task.spec.mode = Mode::kTolerance;
    task.spec.distance = DistanceCommitment{.root = {}, .nodes = 300};
    task.tolerance = Tolerance{};
    task.tolerance->profiles.resize(4);
    task.tolerance->threshold = Distances{};
    task.assignments[1].measurement = make_report().segments[1].measurement;
    write_record(out, 0, "tolerance_task", task);
    task.spec.evaluation =
        EvaluationCommitment{.graph_root = {}, .nodes = 300, .holdout = {}, .data = task.spec.dataset_artifact};
    task.evaluation = Evaluation{};
    write_record(out, 0, "evaluated_task", task);
    write_record(
        out, 1, "checkpoint",
        Checkpoint{.state_root = {}, .location = task.spec.program_artifact.location, .height = {}, .sealed = {}}
    );
    write_record(out, 2, "dispute", Dispute{});
    Dispute accusation;
    accusation.subject = Accusation{.step = 5, .piece = make_stated().piece, .answers = DisputeId{}};
    accusation.claim.trace = dispute::ClaimedTrace{.root = {}, .part = dispute::PartClaim{}};
    write_record(out, 2, "accusation", accusation);
    Committee committee{.segments = {1, 3}, .members = {}, .state = CommitteeState::kSitting, .sitting = 2, .seed = {}};
    committee.members.resize(3);
    committee.members[1].has_attested = true;
    write_record(out, 3, "committee", committee);
    write_record(out, 4, "account", Account{});
    write_record(out, 5, "stake", Stake{});
    write_record(out, 6, "params", Params{});
    write_record(out, 7, "history", HistoryRecord{});
    write_record(out, 8, "genesis", Genesis{.chain_id = "a", .params = {}, .balances = {{key().account(), Amount{1}}}});
    write_record(out, 9, "receipt", Receipt{.tx = {}, .code = 4, .action = "transfer", .sender = {}, .task = TaskId{}});
    write_record(out, 10, "claim", dispute::Claim{});
    Beacon beacon;
    beacon.seats.resize(2);
    beacon.round = Round{.opened_at = {7}, .block_hash = {}, .contributions = {Contribution{}}};
    write_record(out, 11, "beacon", beacon);
    write_record(
        out, 12, "drawing",
        Drawing{.tasks = {TaskId{}}, .verifiers = {Candidate{}}, .whistleblowers = {}, .solvers = {}}
    );
}

void write_bundles(const CorpusWriter& out) {
    std::vector<std::shared_ptr<const Bytes>> parts;
    for (std::uint8_t i = 1; i <= 40; ++i) {
        parts.push_back(std::make_shared<const Bytes>(Bytes(i, i)));
    }
    Bytes bundle = cometbft::encode_bundle(parts);
    out.write("bundle", "forty", bundle);
    bundle.pop_back();
    out.write("bundle", "cut", bundle);
    bundle = cometbft::encode_bundle({parts[0], parts[1]});
    out.write("bundle", "two", bundle);
    out.write("bundle", "nested", cometbft::encode_bundle({parts[0], std::make_shared<const Bytes>(bundle)}));
    bundle[1] = cometbft::kBundleVersion + 1;
    out.write("bundle", "other_version", bundle);
}

Bytes read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_blocks(const CorpusWriter& out, const std::vector<Bytes>& txs) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "assay-make-corpus";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    {
        solo::BlockLog log(folder / "blocks.log");
        out.write("block_log", "empty", read(folder / "blocks.log"));
        Hash256 parent;
        for (std::uint64_t height = 1; height <= 3; ++height) {
            solo::BlockHeader header{
                .chain_id = "assay-fuzz",
                .height = Height{height},
                .time_ms = 1000 * height,
                .parent = parent,
                .txs_root = {},
                .app_hash = {},
                .proposer = {}};
            const auto count = static_cast<std::ptrdiff_t>(height) - 1;
            const solo::Block block = solo::sign_block(header, {txs.begin(), txs.begin() + count}, key());
            parent = solo::block_hash(block.header);
            out.write("block", "height_" + std::to_string(height), codec::encode(block));
            log.append({.block = block, .app_hash = {}});
        }
    }
    Bytes whole = read(folder / "blocks.log");
    out.write("block_log", "three", whole);
    whole[whole.size() / 2] ^= 1U;
    out.write("block_log", "damaged", whole);
    whole[whole.size() / 2] ^= 1U;
    whole.resize(whole.size() - 10);
    out.write("block_log", "torn", whole);
    std::filesystem::remove_all(folder);
}

/// Every action at every stage of a task, and a few that belong together.
void write_scripts(const CorpusWriter& out) {
    const std::vector<Action> actions = all_actions();
    for (std::uint8_t stage = 0; stage < 6; ++stage) {
        ChainScript script{.stage = stage, .steps = {}};
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const auto who = static_cast<std::uint8_t>(i);
            script.steps.push_back({.who = who, .blocks = 1, .which = 0, .action = actions[i]});
        }
        out.write("chain", "all_at_stage_" + std::to_string(stage), codec::encode(script));
    }
    constexpr std::uint8_t kSolver = 1;
    constexpr std::uint8_t kWhistleblower = 3;
    const OpenDispute open{.task = {}, .segment = 1, .role = Role::kWhistleblower};
    const RevealMove reveal{.dispute = {}, .round = 0, .children = std::vector<Hash256>(4)};
    ChainScript dispute{.stage = 5, .steps = {}};
    dispute.steps.push_back({.who = kWhistleblower, .blocks = 0, .which = 0, .action = open});
    dispute.steps.push_back({.who = kSolver, .blocks = 1, .which = 0, .action = reveal});
    dispute.steps.push_back({.who = kWhistleblower, .blocks = 39, .which = 0, .action = open});
    out.write("chain", "dispute", codec::encode(dispute));
    // Nobody gives a verdict: a committee is drawn, and drawn again.
    constexpr std::uint8_t kVerifier = 2;
    constexpr std::uint8_t kStranger = 4;
    const Bond join{.role = Role::kVerifier, .amount = Amount{100'000'000'000}};
    const AttestAvailability attest{.task = {}, .opening = {}};
    ChainScript withheld{.stage = 3, .steps = {}};
    withheld.steps.push_back({.who = kStranger, .blocks = 0, .which = 0, .action = join});
    for (int i = 0; i < 4; ++i) {
        withheld.steps.push_back({.who = kVerifier, .blocks = 10, .which = 0, .action = attest});
        withheld.steps.push_back({.who = kStranger, .blocks = 0, .which = 0, .action = attest});
    }
    out.write("chain", "withheld", codec::encode(withheld));
}

}  // namespace

void write_chain_seeds(const CorpusWriter& out) {
    const std::vector<Bytes> txs = write_txs(out);
    write_bundles(out);
    write_records(out);
    write_scripts(out);
    write_blocks(out, txs);
}

}  // namespace assay::fuzz
