// SPDX-License-Identifier: Apache-2.0
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/tasks/seats.hpp>
#include <core/canonical/node.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/statement.hpp>
#include <core/merkle/tree.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/gas_scenes.hpp>
#include <tools/bench/gas_tasks.hpp>

/// Accusations and reports of members of a group that computes each step together: of the largest group, with the
/// longest paths, about the widest tile.
namespace assay::bench {
namespace {

using namespace contracts;
using canonical::DType;
using canonical::Shape;

constexpr std::uint64_t kAccused = 5'000'000;
constexpr std::uint32_t kSegment = 2;
constexpr std::uint32_t kPieces = 1U << 31U;
constexpr Shape kWidest{canonical::kMaxDimension, canonical::kMaxDimension};

std::vector<Hash256> hashes(const std::string& what, std::size_t count) {
    std::vector<Hash256> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(hash_numbered(what, i));
    }
    return out;
}

/// A task of `player`, the lead, of `accused` and of as many others as a group can have.
Task together_task(Stage& stage, const Player& player, const Player& accused, TaskState state) {
    add_player(stage, accused);
    const bool is_judged = state == TaskState::kChallenge;
    Task task = exact_task(stage, player, state, is_judged ? VerdictStatus::kAccepted : VerdictStatus::kDue);
    task.spec.members = kMaxMembersTogether;
    task.spec.program.step_nodes = canonical::kMaxNodes;
    Group group;
    group.is_together = true;
    const Amount bond = member_bond(stage.params, task_value(task.spec));
    group.partners.push_back({accused.id, bond});
    for (std::uint64_t i = 2; i < kMaxMembersTogether; ++i) {
        group.partners.push_back({account_numbered(i), bond});
        Stake stake = get_stake(stage.state, Role::kSolver, account_numbered(i));
        stake.locked = kMuch;
        set_stake(stage.state, Role::kSolver, account_numbered(i), stake);
    }
    for (std::uint8_t i = 0; i < kMaxMembersTogether; ++i) {
        group.seats.push_back(i);
    }
    group.posters.assign(task.checkpoints, 0);
    task.group = group;
    task.solver_bond = bond;
    end_at(stage, task, Height{stage.height.value + 10});
    return task;
}

Hash256 before_of(const Stage& stage, const Task& task) {
    return find_checkpoint(stage.state, task.id, kSegment - 1).value().state_root;
}

struct Told {
    dispute::StatedPiece stated;
    Signature signature;
};
Told tell(const Stage& stage, const Task& task, const Player& author, dispute::Piece piece, const char* values) {
    piece.values = hash_numbered(values, 0);
    dispute::StatedPiece stated;
    stated.piece = piece;
    stated.path = hashes("piece", merkle::tree_depth(kPieces));
    stated.statement = {
        .task = retag<Hash256>(task.id),
        .before = before_of(stage, task),
        .session = hash_numbered("session", 0),
        .step = first_step(task.spec, kSegment),
        .pieces = kPieces,
        .root = merkle::root_from_path(dispute::piece_leaf(piece), 0, kPieces, stated.path).value()};
    return {stated, author.key.sign(dispute::statement_digest(kChainId, stated.statement).view())};
}

/// The whole tile.
dispute::Piece make_piece(canonical::Source source, DType dtype) {
    dispute::Piece piece;
    piece.source = source;
    piece.rows = piece.cols = canonical::kTileDim;
    piece.width = static_cast<std::uint8_t>(canonical::size_of(dtype));
    return piece;
}

Hash256 commit_opened(const canonical::TensorType& type, const dispute::TileOpening& opening) {
    const std::uint64_t tiles = canonical::tile_count(type.shape);
    const auto root = merkle::root_from_path(dispute::tile_leaf(opening.tile), 0, tiles, opening.tile_path);
    return dispute::tensor_commitment(type, root.value());
}

Action make_accuse(
    const Task& task, const Player& accused, const Told& told, const Hash256& state_root,
    decltype(dispute::Contradiction::evidence) evidence
) {
    return Accuse{
        task.id, accused.id, told.signature,
        dispute::Contradiction{.stated = told.stated, .state_root = state_root, .evidence = std::move(evidence)},
        std::nullopt};
}

std::optional<Action> accuse_of_value(Stage& stage, const Player& player) {
    const Player accused = make_player(kAccused + player.number);
    const Task task = together_task(stage, player, accused, TaskState::kTraining);
    put(stage, task);
    const canonical::TensorType type{.dtype = DType::kI64, .shape = kWidest};
    dispute::OutputEvidence evidence{
        .trace_root = {},
        .type = type,
        .opening = open_wide(
            DType::kI64, merkle::tree_depth(canonical::tile_count(kWidest)), merkle::tree_depth(canonical::kMaxNodes)
        )};
    evidence.trace_root =
        merkle::root_from_path(
            commit_opened(type, evidence.opening), 0, canonical::kMaxNodes, evidence.opening.source_path
        )
            .value();
    const Told told = tell(stage, task, accused, make_piece(canonical::Source::kNode, DType::kI64), "wrong");
    return make_accuse(task, accused, told, hash_numbered("after", 0), evidence);
}

std::optional<Action> accuse_of_part(Stage& stage, const Player& player) {
    const Player accused = make_player(kAccused + player.number);
    Task task = together_task(stage, player, accused, TaskState::kTraining);
    constexpr Shape kWide{canonical::kMaxDimension, 64};
    constexpr Shape kExponents{canonical::kMaxDimension, 2};
    const auto input = [](std::uint32_t index, Shape shape) {
        return canonical::Input{
            .source = canonical::Source::kState, .index = index, .dtype = DType::kI32, .shape = shape};
    };
    const canonical::Node node{
        .op = canonical::Op::kContract,
        .dtype = DType::kF32,
        .shape = kWidest,
        .attributes = {21, 32},
        .inputs = {input(0, kWide), input(1, kExponents), input(2, kWide), input(3, kExponents)}};
    const auto path = hashes("node", merkle::tree_depth(canonical::kMaxNodes));
    task.spec.program.step_root =
        merkle::root_from_path(dispute::node_hash(node), 0, canonical::kMaxNodes, path).value();
    put(stage, task);
    dispute::Piece piece = make_piece(canonical::Source::kNode, DType::kI64);
    piece.part = canonical::PartRange::consecutive(0, 1);
    const Told told = tell(stage, task, accused, piece, "wrong");
    return make_accuse(
        task, accused, told, hash_numbered("after", 0),
        dispute::PartEvidence{
            .trace_root = hash_numbered("trace", 0),
            .node = {.node = node, .path = path},
            .accumulator = canonical::Accumulator{Bytes(std::size_t{8} * canonical::kTileElements)}}
    );
}

/// In answer to a dispute, and of the state at the segment's start: the accused, and with it the task, is convicted at
/// once.
std::optional<Action> accuse_of_state(Stage& stage, const Player& player) {
    const Player accused = make_player(kAccused + player.number);
    Task task = together_task(stage, player, accused, TaskState::kChallenge);
    task.redraws = stage.params.redraws_max;
    task.open_disputes = 1;
    dispute::StateOpening opening = open_state(DType::kI64);
    opening.opening.source_path = hashes("tensor", merkle::tree_depth(canonical::kMaxStateTensors));
    const Hash256 before = dispute::state_root_of(opening, task.spec.program.state_tensors).value();
    set_checkpoint(stage.state, task.id, kSegment - 1, {before, make_location(), Height{1}, {}});
    Dispute dispute;
    dispute.id = retag<DisputeId>(hash_numbered("dispute", player.number));
    dispute.task = task.id;
    dispute.segment = kSegment;
    dispute.responder = player.id;
    dispute.challenger = account_numbered(0);
    dispute.challenger_role = Role::kWhistleblower;
    dispute.challenger_bond = Amount{1'000'000'000};
    dispute.claim = make_claim(stage.state, task, kSegment);
    dispute.position = dispute::start_position(dispute.claim);
    DisputeGame game{.responder_clock = 100, .challenger_clock = 100, .last_move_at = {}, .deadline = {}};
    const Due due{DueKind::kDispute, retag<Hash256>(dispute.id)};
    set_deadline(stage.state, due, game.deadline, Height{stage.height.value + 10});
    dispute.phase = game;
    set_dispute(stage.state, dispute);
    Stake stake = get_stake(stage.state, Role::kWhistleblower, account_numbered(0));
    stake.locked = kMuch;
    set_stake(stage.state, Role::kWhistleblower, account_numbered(0), stake);
    set_bookkeeping(stage.state, task.id, {.open_until = {}, .disputes = {note_of(dispute)}});
    put(stage, task);
    const Told told = tell(stage, task, accused, make_piece(canonical::Source::kState, DType::kI64), "wrong");
    Action action = make_accuse(
        task, accused, told, before, dispute::StateEvidence{.type = opening.type, .opening = opening.opening}
    );
    std::get<Accuse>(action).answers = dispute.id;
    return action;
}

std::optional<Action> report_equivocation(Stage& stage, const Player& player) {
    const Player accused = make_player(kAccused + player.number);
    const Task task = together_task(stage, player, accused, TaskState::kChallenge);
    put(stage, task);
    const dispute::Piece piece = make_piece(canonical::Source::kNode, DType::kI64);
    const Told one = tell(stage, task, accused, piece, "one");
    const Told other = tell(stage, task, accused, piece, "other");
    return ReportEquivocation{task.id, accused.id, one.stated, one.signature, other.stated, other.signature};
}

/// The worst: everybody but the lead and one more is new, and the seats were given anew as often as they can be.
std::optional<Action> reseat(Stage& stage, const Player& player) {
    const Player partner = make_player(kAccused + player.number);
    Task task = together_task(stage, player, partner, TaskState::kTraining);
    task.checkpoints -= 2;  // the list counts from the last segment on, and the one before is in training
    const std::uint32_t now = segment_in_training(task);
    Group& group = *task.group;
    group.partners.resize(1);
    group.seats.assign(kMaxMembersTogether, 1);
    for (std::uint32_t i = 0; i + 1 < kMaxSeatings; ++i) {
        group.earlier.push_back({std::min(i, now), group.seats});
    }
    put(stage, task);
    Reseat out{.task = task.id, .from = now + 1, .seats = {player.id, partner.id}, .signatures = {}};
    std::vector<Player> partners{partner};
    for (std::uint64_t i = 2; i < kMaxMembersTogether; ++i) {
        const Player other = make_player(kAccused * i + player.number);
        add_player(stage, other);
        partners.push_back(other);
        out.seats.push_back(other.id);
    }
    const Hash256 claim =
        seats_claim(kChainId, {.task = task.id, .seats = out.seats, .is_together = true, .from = out.from});
    for (const Player& each : partners) {
        out.signatures.push_back(each.key.sign(claim.view()));
    }
    return out;
}

std::optional<Action> demand(Stage& stage, const Player& player) {
    const Player accused = make_player(kAccused + player.number);
    Task task = together_task(stage, player, accused, TaskState::kTraining);
    --task.checkpoints;
    task.group->demanded = {1};
    put(stage, task);
    return Demand{task.id, accused.id};
}

}  // namespace

std::vector<Scene> statement_scenes() {
    return {
        {"accuse", accuse_of_value},
        {"accuse of a part", accuse_of_part},
        {"accuse of a state", accuse_of_state},
        {"report_equivocation", report_equivocation},
        {"reseat", reseat},
        {"demand", demand},
    };
}

}  // namespace assay::bench
