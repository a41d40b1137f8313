// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <core/merkle/tree.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/gas_scenes.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/rules.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/one_step_verifier.hpp>

namespace assay::bench {
namespace {

using namespace contracts;
using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;

constexpr std::uint32_t kEntries = canonical::kMaxNodes;
constexpr std::uint32_t kDisputedNode = 5'000;

std::vector<Hash256> hashes(const std::string& what, std::size_t count) {
    std::vector<Hash256> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(hash_numbered(what, i));
    }
    return out;
}

/// A dispute over one step of the largest program there is; `is_responder`: the player made the claim.
Dispute make_dispute(Stage& stage, const Player& player, bool is_responder) {
    Task task = disputed_task(stage, player);
    task.solver = is_responder ? player.id : account_numbered(0);
    task.open_disputes = 1;
    task.spec.program.state_tensors = canonical::kMaxStateTensors;
    task.spec.program.step_nodes = kEntries;
    task.spec.program.dataset = {std::uint64_t{1} << 32U, 4096};
    set_task(stage.state, task);
    Dispute dispute;
    dispute.id = retag<DisputeId>(hash_numbered("dispute", player.number));
    dispute.task = task.id;
    dispute.segment = 1;
    dispute.responder = task.solver.value();
    dispute.challenger = is_responder ? account_numbered(0) : player.id;
    dispute.challenger_bond = Amount{1'000'000'000};
    dispute.claim = base_claim(task.spec, 1);
    dispute.claim.step_count = 1;
    dispute.claim.before = hash_numbered("before", 0);
    dispute.claim.after = hash_numbered("after", 0);
    dispute.position = dispute::start_position(dispute.claim);
    DisputeGame game{.responder_clock = 100, .challenger_clock = 100, .last_move_at = {}, .deadline = {}};
    const Due due{DueKind::kDispute, retag<Hash256>(dispute.id)};
    set_deadline(stage.state, due, game.deadline, Height{stage.height.value + 10});
    dispute.phase = game;
    set_bookkeeping(stage.state, task.id, {.open_until = {}, .disputes = {note_of(dispute)}});
    return dispute;
}

/// kCommit over as many tensors as a state can have.
constexpr std::size_t kTensorPath = 12;  // kMaxStateTensors leaves

canonical::Input state_tensor(std::uint32_t index) { return {canonical::Source::kState, index, DType::kF32, {32, 32}}; }

/// As many inputs as a state can have, of which the first is `inputs[0]`; its path is `path`.
dispute::CommitNode wide_commit(const std::vector<Hash256>& path) {
    return {merkle::root_from_path(dispute::input_leaf(state_tensor(0)), 0, canonical::kMaxStateTensors, path).value()};
}

/// The dispute's step, with node `index` of it in question.
dispute::DisputedNode disputed_node(const Dispute& dispute, std::uint32_t index, dispute::OpenedNode node) {
    return {
        .step = {.number = dispute.claim.first_step, .state_before = {}, .state_after = dispute.claim.after},
        .trace_root = {},
        .index = index,
        .claim = {},
        .node = std::move(node)};
}

// --- moves ---------------------------------------------------------------------------------------------------

std::optional<Action> reveal_nodes(Stage& stage, const Player& player) {
    Dispute dispute = make_dispute(stage, player, true);
    dispute.claim.program.step_nodes = dispute::kMaxChildren;
    dispute.position = dispute::start_position(dispute.claim);
    RevealMove move{dispute.id, 0, hashes("child", dispute::kMaxChildren)};
    move.children.back() = dispute.claim.after;
    set_dispute(stage.state, dispute);
    return move;
}

std::optional<Action> reveal_tensors(Stage& stage, const Player& player) {
    Dispute dispute = make_dispute(stage, player, true);
    dispute::DisputedNode node = disputed_node(dispute, kEntries - 1, wide_commit(hashes("input", kTensorPath)));
    const auto children = hashes("child", 64);
    std::vector<Hash256> level = children;
    while (level.size() > 1) {
        for (std::size_t i = 0; i < level.size() / 2; ++i) {
            level[i] = merkle::hash_children(level[2 * i], level[2 * i + 1]);
        }
        level.resize(level.size() / 2);
    }
    node.claim = dispute::state_root_from(canonical::kMaxStateTensors, level.front());
    dispute.position.at = dispute::Bisection{dispute::AtNode{std::move(node)}, {}};
    set_dispute(stage.state, dispute);
    return RevealMove{dispute.id, 0, children};
}

// --- proofs --------------------------------------------------------------------------------------------------

canonical::Input input(std::uint32_t index, DType dtype, Shape shape) {
    return {.source = canonical::Source::kNode, .index = index, .dtype = dtype, .shape = shape};
}

/// Elements that make the primitive work: no zeros, nothing that takes a short way.
canonical::Tile make_tile(DType dtype, std::uint32_t least, std::uint32_t most, std::uint64_t seed) {
    canonical::Tile tile = canonical::make_tile(dtype);
    const std::size_t size = canonical::size_of(dtype);
    for (std::size_t i = 0; i < canonical::kTileElements; ++i) {
        const std::uint64_t value = least + mix(seed) % (most - least);
        for (std::size_t b = 0; b < size; ++b) {
            tile.data[i * size + b] = static_cast<std::uint8_t>(b < 8 ? value >> (8 * b) : 0);
        }
    }
    return tile;
}

struct Range {
    std::uint32_t least = 0;
    std::uint32_t most = 1;
};
const Range kFloats{std::bit_cast<std::uint32_t>(0.1F), std::bit_cast<std::uint32_t>(1.9F)};
const Range kLargeFloats{std::bit_cast<std::uint32_t>(1e6F), std::bit_cast<std::uint32_t>(1e9F)};
constexpr Range kQuantised{1, 1U << 20U};
constexpr Range kSmall{1, 20};

/// A node with what its inputs' tiles hold.
struct Bottom {
    Node node;
    std::vector<Range> values{};
};

/// Trees of a few known leaves and arbitrary siblings: the paths of a step's first four entries.
std::vector<Hash256> entry_path(const std::vector<Hash256>& first_four, std::size_t index) {
    const std::size_t other = index < 2 ? 2 : 0;
    std::vector<Hash256> path{first_four[index ^ 1U], merkle::hash_children(first_four[other], first_four[other + 1])};
    const auto rest = hashes("entries", merkle::tree_depth(kEntries) - 2);
    path.insert(path.end(), rest.begin(), rest.end());
    return path;
}

struct Opened {
    std::vector<dispute::TileOpening> tiles;
    std::vector<canonical::Tile> data;
    Hash256 trace_root;
};

Opened open_tiles(const Bottom& bottom, std::uint32_t partial) {
    const Node& node = bottom.node;
    Opened out;
    auto refs = canonical::operands_of(node, 0, partial);
    const auto take = [&](const canonical::TileRef& ref) {
        const Range range = bottom.values[ref.input];
        out.data.push_back(make_tile(node.inputs[ref.input].dtype, range.least, range.most, ref.input + 1));
    };
    for (const auto& ref : refs) {
        take(ref);
    }
    if (const auto more = canonical::dependent_operand(node, 0, partial, out.data)) {
        take(*more);
        refs.push_back(*more);
    }
    std::vector<Hash256> commitments = hashes("commitment", 4);
    for (std::size_t i = 0; i < refs.size(); ++i) {
        const canonical::Input& from = node.inputs[refs[i].input];
        const std::uint64_t tiles = canonical::tile_count(from.shape);
        auto path = hashes("tile", merkle::tree_depth(tiles));
        const auto root = merkle::root_from_path(dispute::tile_leaf(out.data[i]), refs[i].tile, tiles, path).value();
        commitments[refs[i].input] = dispute::tensor_commitment({.dtype = from.dtype, .shape = from.shape}, root);
        out.tiles.push_back({.tile = out.data[i], .tile_path = std::move(path), .source_path = {}});
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
        out.tiles[i].source_path = entry_path(commitments, refs[i].input);
    }
    out.trace_root = merkle::root_from_path(commitments[0], 0, kEntries, entry_path(commitments, 0)).value();
    return out;
}

/// The partial in question is the second where there are several, so that an accumulator is read and another written.
std::optional<Action> prove(Stage& stage, const Player& player, const Bottom& bottom) {
    Dispute dispute = make_dispute(stage, player, false);
    const Node& node = bottom.node;
    dispute::Claim& claim = dispute.claim;
    claim.program.batch_size = 64;
    const std::uint32_t partial = canonical::partial_count(node, 0) > 1 ? 1 : 0;
    const canonical::StepContext context{.seed = 1, .step = 0, .dataset = claim.program.dataset};
    claim.seed = context.seed;
    Opened opened = open_tiles(bottom, partial);
    dispute::PartialProof proof;
    proof.tiles = opened.tiles;
    const auto values_of = [&](std::uint32_t which) -> std::optional<Bytes> {
        const auto span = canonical::dataset_span_of(node, 0, which, context);
        return span ? std::optional(Bytes(std::size_t{4} * span->count)) : std::nullopt;
    };
    if (const auto span = canonical::dataset_span_of(node, 0, partial, context)) {
        const canonical::DatasetShape& dataset = claim.program.dataset;
        const dispute::ChunkRange range = dispute::chunks_of(dataset, *span);
        const auto path = hashes("chunk", merkle::tree_depth(canonical::chunk_count(dataset)));
        const Bytes chunk(canonical::kChunkBytes);
        claim.dataset_root =
            merkle::root_from_path(dispute::chunk_leaf(chunk), range.first, canonical::chunk_count(dataset), path)
                .value();
        proof.chunks.assign(range.count, dispute::ChunkOpening{chunk, path});
    }
    dispute::AtPartial at;
    if (partial != 0) {
        const canonical::PartialInput first{
            .before = std::nullopt, .tiles = open_tiles(bottom, 0).data, .dataset_values = values_of(0)};
        proof.before = canonical::execute_partial(node, 0, 0, context, first).value().accumulator.value();
        at.accumulator_before = dispute::accumulator_hash(*proof.before);
    }
    at.tile.node = disputed_node(dispute, kDisputedNode, node);
    at.tile.node.trace_root = opened.trace_root;
    at.partial = partial;
    at.accumulator_after = hash_numbered("accumulator", 0);
    dispute.position = {.rounds = 7, .at = std::move(at)};
    set_dispute(stage.state, dispute);
    return ProveMove{dispute.id, std::move(proof)};
}

Node make_node(
    Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, std::vector<canonical::Input> inputs
) {
    Node node;
    node.op = op;
    node.dtype = dtype;
    node.shape = shape;
    node.attributes = attributes;
    node.inputs = std::move(inputs);
    return node;
}

constexpr std::uint32_t kMost = canonical::kMaxDimension;
constexpr Shape kWidest{kMost, kMost};

Bottom contract() {
    constexpr Shape kWide{kMost, 96};
    constexpr Shape kExponents{kMost, 3};
    const std::vector<canonical::Input> inputs{
        input(0, DType::kI32, kWide), input(1, DType::kI32, kExponents), input(2, DType::kI32, kWide),
        input(3, DType::kI32, kExponents)};
    return {make_node(Op::kContract, DType::kF32, kWidest, {21, 32}, inputs), {kQuantised, kSmall, kQuantised, kSmall}};
}

/// Each element of the tile comes from another tile; `divisor` 2: and every second from nowhere.
Bottom view(std::uint32_t divisor) {
    constexpr Shape kShape{1U << 20U, 1U << 20U};
    canonical::View view;
    view.dims.assign(canonical::kMaxViewAxes, 32);
    for (std::size_t a = 0; a < canonical::kMaxViewAxes; ++a) {
        canonical::ViewAxis axis{.size = 32, .offset = 0, .divisor = divisor, .strides = {}};
        axis.strides.assign(canonical::kMaxViewAxes, 0);
        axis.strides[a < 4 ? 3 - a : 11 - a] = 1;
        view.axes.push_back(std::move(axis));
    }
    Bottom out{make_node(Op::kView, DType::kI64, kShape, {}, {input(0, DType::kI64, kShape)}), {kQuantised}};
    out.node.view = view;
    return out;
}

Bottom elementwise(Op op, std::size_t inputs, Range range) {
    Bottom out{make_node(op, DType::kF32, kWidest, {}, {}), std::vector<Range>(inputs, range)};
    for (std::uint32_t i = 0; i < inputs; ++i) {
        out.node.inputs.push_back(input(i, DType::kF32, kWidest));
    }
    return out;
}

Bottom reduction(Op op, DType from, DType to) {
    const std::uint32_t span = op == Op::kRowExponent ? 96 : 0;
    return {
        make_node(op, to, {kMost, 1}, {span, 0}, {input(0, from, {kMost, 96})}),
        {from == DType::kF32 ? kFloats : kQuantised}};
}

/// A source or a movement of rows.
Bottom rows(Op op, DType dtype, Shape shape, std::vector<canonical::Input> inputs, std::vector<Range> values) {
    return {make_node(op, dtype, shape, {}, std::move(inputs)), std::move(values)};
}

std::vector<std::pair<std::string, Bottom>> bottoms() {
    constexpr Shape kRandom{1U << 17U, 1U << 17U};
    const std::uint32_t one = std::bit_cast<std::uint32_t>(1.0F);
    const canonical::Input index = input(1, DType::kI32, {kMost / 2, 1});
    std::vector<std::pair<std::string, Bottom>> out{
        {"contract", contract()},
        {"view", view(1)},
        {"view, divided", view(2)},
        {"scatter_add_rows", rows(
                                 Op::kScatterAddRows, DType::kI64, {kMost, 32},
                                 {input(0, DType::kI32, {kMost / 2, 32}), index}, {kQuantised, kSmall}
                             )},
        {"gather_rows", rows(
                            Op::kGatherRows, DType::kF32, {kMost / 2, 32}, {input(0, DType::kF32, {kMost, 32}), index},
                            {kFloats, kSmall}
                        )},
        {"batch_rows", rows(Op::kBatchRows, DType::kI32, {64, 4096}, {}, {})},
        {"uniform", {make_node(Op::kUniform, DType::kF32, kRandom, {one, 1}, {})}},
        {"bernoulli", {make_node(Op::kBernoulli, DType::kF32, kRandom, {1U << 31U, 1}, {})}},
        {"quantise",
         {make_node(
              Op::kQuantise, DType::kI32, kWidest, {21, 32},
              {input(0, DType::kF32, kWidest), input(1, DType::kI32, {kMost, kMost / 32})}
          ),
          {kFloats, kSmall}}},
        {"dequantise",
         {make_node(
              Op::kDequantise, DType::kF32, kWidest, {21, 0},
              {input(0, DType::kI64, kWidest), input(1, DType::kI32, {kMost, 1})}
          ),
          {kQuantised, kSmall}}},
        {"row_max", reduction(Op::kRowMax, DType::kF32, DType::kF32)},
        {"row_exponent", reduction(Op::kRowExponent, DType::kF32, DType::kI32)},
        {"row_sum", reduction(Op::kRowSum, DType::kI32, DType::kI64)},
        {"row_arg_max", reduction(Op::kRowArgMax, DType::kF32, DType::kI32)},
        {"select", elementwise(Op::kSelect, 3, kFloats)},
        {"div", elementwise(Op::kDiv, 2, kFloats)},
    };
    for (const Op op : {Op::kSqrt, Op::kExp, Op::kLog, Op::kTanh, Op::kErf, Op::kSin}) {
        out.emplace_back(canonical::to_string(op), elementwise(op, 1, op == Op::kSin ? kLargeFloats : kFloats));
    }
    return out;
}

/// The selection that opens the largest node there is.
std::optional<Action> select_node(Stage& stage, const Player& player) {
    Dispute dispute = make_dispute(stage, player, false);
    dispute::ProgramCommitment& program = dispute.claim.program;
    program.step_nodes = dispute::kMaxChildren;
    constexpr std::uint32_t kLastButOne = dispute::kMaxChildren - 2;  // behind it is kCommit, which is small
    const Node node = view(1).node;
    const auto path = hashes("path", 8);
    program.step_root = merkle::root_from_path(dispute::node_hash(node), kLastButOne, program.step_nodes, path).value();
    dispute.position = dispute::start_position(dispute.claim);
    std::get<dispute::Bisection>(dispute.position.at).pending = hashes("child", dispute::kMaxChildren);
    set_dispute(stage.state, dispute);
    return SelectMove{dispute.id, 0, {.child = kLastButOne, .node = dispute::NodeOpening{node, path}}};
}

/// A tensor of the state is not what kCommit names.
std::optional<Action> prove_commit(Stage& stage, const Player& player) {
    Dispute dispute = make_dispute(stage, player, false);
    const dispute::EntryProof proof{
        .input = state_tensor(0),
        .input_path = hashes("input", kTensorPath),
        .commitment = hash_numbered("commitment", 0),
        .path = hashes("path", kTensorPath)};
    dispute::AtTensor at{
        disputed_node(dispute, kEntries - 1, wide_commit(proof.input_path)), 0, hash_numbered("claimed", 0)};
    const std::uint32_t tensors = canonical::kMaxStateTensors;
    at.node.step.state_before =
        dispute::state_root_from(tensors, merkle::root_from_path(proof.commitment, 0, tensors, proof.path).value());
    dispute.position.at = std::move(at);
    set_dispute(stage.state, dispute);
    return ProveMove{dispute.id, proof};
}

}  // namespace

std::vector<Scene> dispute_scenes() {
    std::vector<Scene> out{
        {"reveal_move", reveal_nodes},
        {"reveal_move, of tensors", reveal_tensors},
        {"select_move", select_node},
        {"prove_move, commit", prove_commit},
    };
    for (const auto& [name, bottom] : bottoms()) {
        out.push_back({"prove_move, " + name, [bottom = bottom](Stage& stage, const Player& player) {
                           return prove(stage, player, bottom);
                       }});
    }
    return out;
}

}  // namespace assay::bench
