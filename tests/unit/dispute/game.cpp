// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/dispute/game.hpp>

#include <bit>
#include <utility>

#include <doctest/doctest.h>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>

namespace assay::dispute::testing {

using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using canonical::Tensor;

namespace {

void put_u32(Bytes& out, std::uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        out.push_back(static_cast<std::uint8_t>(value >> shift));
    }
}

std::vector<Tensor> initial_state(const World& world) {
    const canonical::StepContext context{.seed = 7, .step = 0, .dataset = world.rows->shape()};
    auto state = canonical::execute_graph(world.init, context, *world.rows, world.initial);
    ASSERT(state.has_value());
    return *std::move(state);
}

Input node_input(std::uint32_t index, const Node& node) {
    return {.source = Source::kNode, .index = index, .dtype = node.dtype, .shape = node.shape};
}

Node commit_of(std::vector<Input> inputs) {
    return {.op = Op::kCommit, .dtype = DType::kF32, .shape = {0, 0}, .attributes = {}, .inputs = std::move(inputs)};
}

Node uniform(Shape shape, std::uint32_t id) {
    return {
        .op = Op::kUniform,
        .dtype = DType::kF32,
        .shape = shape,
        .attributes = {std::bit_cast<std::uint32_t>(1.0F), id},
        .inputs = {}};
}

}  // namespace

MemoryRows::MemoryRows(canonical::DatasetShape shape, std::uint32_t values) : shape_(shape) {
    std::uint32_t x = 12345;
    for (std::uint64_t i = 0; i < shape.rows * shape.width; ++i) {
        x = x * 1664525U + 1013904223U;
        put_u32(data_, (x >> 16U) % values);
    }
}

Bytes MemoryRows::row(std::uint64_t index) const {
    const std::size_t bytes = std::size_t{4} * shape_.width;
    const ByteView row = ByteView(data_).subspan(static_cast<std::size_t>(index) * bytes, bytes);
    return {row.begin(), row.end()};
}

Lie flip(std::uint64_t step, std::uint32_t node, std::uint64_t element) {
    return {.step = step, .node = node, .alter = [element](Tensor& t) {
                t.data[static_cast<std::size_t>(element) * canonical::size_of(t.dtype)] ^= 1U;
            }};
}

Lie raise(std::uint64_t step, std::uint32_t node, std::uint64_t element) {
    return {.step = step, .node = node, .alter = [element](Tensor& t) {
                const auto bits = std::bit_cast<std::uint32_t>(1000.0F);
                for (std::size_t i = 0; i < 4; ++i) {
                    t.data[static_cast<std::size_t>(element) * 4 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
                }
            }};
}

ProgramCommitment World::commitment() const {
    const InitialTensors given{
        .count = static_cast<std::uint32_t>(initial.size()), .root = initial.empty() ? Hash256{} : root_of(initial)};
    return commit_program(init, step, static_cast<std::uint32_t>(state.size()), batch_size, rows->shape(), given);
}

World char_world() {
    const program::CharModelConfig config{
        .vocabulary = 40, .context = 2, .embedding = 32, .hidden = 40, .batch_size = 37, .dataset_rows = 50};
    const program::Program program = program::build_char_model(config, {});
    World world{
        .init = program.init,
        .step = program.step,
        .rows = std::make_shared<MemoryRows>(program.dataset, config.vocabulary),
        .state = {},
        .batch_size = config.batch_size};
    world.state = initial_state(world);
    return world;
}

World replicas_world() {
    const program::MlpConfig config{.features = 3, .hidden = {40}, .classes = 4, .batch_size = 6, .dataset_rows = 50};
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kSgdMomentum;
    optimizer.replicas = {.count = 2, .exchange = program::ExchangeKind::kDgc, .block = 16, .dense_below = 8};
    const program::Program program = program::build_mlp(config, optimizer);
    World world{
        .init = program.init,
        .step = program.step,
        .rows = std::make_shared<MemoryRows>(program.dataset, config.classes),
        .state = {},
        .batch_size = config.batch_size};
    world.state = initial_state(world);
    return world;
}

World moments_world(program::Moments moments) {
    const program::MlpConfig config{
        .features = 3, .hidden = {64, 70}, .classes = 4, .batch_size = 6, .dataset_rows = 50};
    program::OptimizerConfig optimizer;
    optimizer.moments = moments;
    const auto program = program::with_narrow_moments(program::build_mlp(config, optimizer), optimizer).value();
    World world{
        .init = program.init,
        .step = program.step,
        .rows = std::make_shared<MemoryRows>(program.dataset, config.classes),
        .state = {},
        .batch_size = config.batch_size};
    world.state = initial_state(world);
    return world;
}

World contraction_world(std::uint32_t k) {
    const Shape matrix{40, k};
    const Shape result{40, 40};
    constexpr std::uint32_t kChunk = 64;
    constexpr std::uint32_t kPrecision = 21;
    const Shape exponents{40, (k + kChunk - 1) / kChunk};
    const Input x{.source = Source::kState, .index = 0, .dtype = DType::kF32, .shape = matrix};
    World world;
    world.init = {uniform(matrix, 1)};
    world.init.push_back(commit_of({node_input(0, world.init[0])}));
    Graph& g = world.step;
    g.push_back(
        {.op = Op::kRowExponent, .dtype = DType::kI32, .shape = exponents, .attributes = {kChunk, 0}, .inputs = {x}}
    );
    g.push_back(
        {.op = Op::kQuantise,
         .dtype = DType::kI32,
         .shape = matrix,
         .attributes = {kPrecision, kChunk},
         .inputs = {x, node_input(0, g[0])}}
    );
    g.push_back(
        {.op = Op::kContract,
         .dtype = DType::kF32,
         .shape = result,
         .attributes = {kPrecision, kChunk},
         .inputs = {node_input(1, g[1]), node_input(0, g[0]), node_input(1, g[1]), node_input(0, g[0])}}
    );
    g.push_back(
        {.op = Op::kRowMax, .dtype = DType::kF32, .shape = {40, 1}, .attributes = {}, .inputs = {node_input(2, g[2])}}
    );
    g.push_back(
        {.op = Op::kDiv, .dtype = DType::kF32, .shape = matrix, .attributes = {}, .inputs = {x, node_input(3, g[3])}}
    );
    g.push_back(commit_of({node_input(4, g[4])}));
    world.rows = std::make_shared<MemoryRows>(canonical::DatasetShape{.rows = 1, .width = 1}, 2);
    world.batch_size = 1;
    world.state = initial_state(world);
    return world;
}

World chain_world(std::uint32_t nodes) {
    const Shape shape{3, 5};
    World world;
    world.init = {uniform(shape, 1)};
    world.init.push_back(commit_of({node_input(0, world.init[0])}));
    Input previous{.source = Source::kState, .index = 0, .dtype = DType::kF32, .shape = shape};
    for (std::uint32_t i = 0; i < nodes; ++i) {
        world.step.push_back(
            {.op = Op::kScale,
             .dtype = DType::kF32,
             .shape = shape,
             .attributes = {std::bit_cast<std::uint32_t>(i % 2 == 0 ? 1.25F : 0.75F), 0},
             .inputs = {previous}}
        );
        previous = node_input(i, world.step.back());
    }
    world.step.push_back(commit_of({previous}));
    world.rows = std::make_shared<MemoryRows>(canonical::DatasetShape{.rows = 1, .width = 1}, 2);
    world.batch_size = 1;
    world.state = initial_state(world);
    return world;
}

World wide_world(std::uint32_t tensors, std::uint32_t depth) {
    const Shape shape{1, 2};
    World world;
    std::vector<Input> made;
    std::vector<Input> next;
    for (std::uint32_t t = 0; t < tensors; ++t) {
        world.init.push_back(uniform(shape, t));
        made.push_back(node_input(t, world.init.back()));
        Input last{.source = Source::kState, .index = t, .dtype = DType::kF32, .shape = shape};
        for (std::uint32_t i = 0; i < depth && (t + 1 < tensors || t == 0); ++i) {
            world.step.push_back(
                {.op = Op::kScale,
                 .dtype = DType::kF32,
                 .shape = shape,
                 .attributes = {std::bit_cast<std::uint32_t>(0.75F), 0},
                 .inputs = {last}}
            );
            last = node_input(static_cast<std::uint32_t>(world.step.size() - 1), world.step.back());
        }
        next.push_back(last);
    }
    world.init.push_back(commit_of(made));
    world.step.push_back(commit_of(next));
    world.rows = std::make_shared<MemoryRows>(canonical::DatasetShape{.rows = 1, .width = 1}, 2);
    world.batch_size = 1;
    world.state = initial_state(world);
    return world;
}

World squaring_world() {
    const Shape shape{3, 5};
    const Shape still{40, 3};
    const auto fill = [](Shape s, float value) {
        return Node{
            .op = Op::kFill,
            .dtype = DType::kF32,
            .shape = s,
            .attributes = {std::bit_cast<std::uint32_t>(value), 0},
            .inputs = {}};
    };
    const Input x{.source = Source::kState, .index = 1, .dtype = DType::kF32, .shape = shape};
    const Input y{.source = Source::kState, .index = 0, .dtype = DType::kF32, .shape = still};
    World world;
    world.init = {fill(still, 1.0F), fill(shape, 16.0F)};
    world.init.push_back(commit_of({node_input(0, world.init[0]), node_input(1, world.init[1])}));
    world.step = {{.op = Op::kMul, .dtype = DType::kF32, .shape = shape, .attributes = {}, .inputs = {x, x}}};
    world.step.push_back(commit_of({y, node_input(0, world.step[0])}));
    world.rows = std::make_shared<MemoryRows>(canonical::DatasetShape{.rows = 1, .width = 1}, 2);
    world.batch_size = 1;
    world.state = initial_state(world);
    return world;
}

World given_world() {
    World world = chain_world(4);
    const Shape shape{3, 5};
    for (std::uint32_t t = 0; t < 2; ++t) {
        world.initial.push_back(canonical::execute_node(
            uniform(shape, 40 + t), {.seed = 99, .step = 0, .dataset = world.rows->shape()}, *world.rows, {}
        ));
    }
    const Input given{.source = Source::kState, .index = 1, .dtype = DType::kF32, .shape = shape};
    world.init[0] = {
        .op = Op::kScale,
        .dtype = DType::kF32,
        .shape = shape,
        .attributes = {std::bit_cast<std::uint32_t>(0.5F), 0},
        .inputs = {given}};
    world.state = initial_state(world);
    return world;
}

Hash256 root_of(const std::vector<Tensor>& state) {
    std::vector<Hash256> commitments;
    for (const Tensor& t : state) {
        commitments.push_back(commit_tensor(t));
    }
    return state_root(commitments);
}

ScalarReplay::ScalarReplay(
    const World& world, bool initialisation, std::uint64_t seed, std::vector<Lie> lies, std::uint64_t first_step
)
    : world_(world),
      initialisation_(initialisation),
      seed_(seed),
      lies_(std::move(lies)),
      rows_tree_(dispute::dataset_tree(*world.rows)) {
    states_[first_step] = initialisation ? world.initial : world.state;
}

/// Node by node rather than by execute_graph, so that a lie reaches everything downstream.
void ScalarReplay::run(std::uint64_t step) {
    const Graph& graph = this->graph();
    const canonical::StepContext context{
        .seed = seed_, .step = initialisation_ ? 0 : step, .dataset = world_.rows->shape()};
    const std::vector<Tensor>& state = states_.at(step);
    std::vector<Tensor> outputs;
    const auto tensor = [&](const Input& input) -> const Tensor* {
        return input.source == Source::kState ? &state[input.index] : &outputs[input.index];
    };
    for (std::uint32_t i = 0; i + 1 < graph.size(); ++i) {
        std::vector<const Tensor*> inputs;
        for (const Input& input : graph[i].inputs) {
            inputs.push_back(tensor(input));
        }
        outputs.push_back(canonical::execute_node(graph[i], context, *world_.rows, inputs));
        for (const Lie& lie : lies_) {
            if (lie.step == step && lie.node == i) {
                lie.alter(outputs.back());
            }
        }
    }
    std::vector<Tensor> next;
    for (const Input& input : graph.back().inputs) {
        next.push_back(*tensor(input));
    }
    for (const Lie& lie : lies_) {
        if (lie.step == step && lie.node + 1 == graph.size()) {
            lie.alter(next[lie.tensor]);
        }
    }
    if (!diverged_at_ && open_divergence(next)) {
        diverged_at_ = step;
    }
    outputs_[step] = std::move(outputs);
    states_[step + 1] = std::move(next);
}

const std::vector<Tensor>& ScalarReplay::state_before(std::uint64_t step) {
    for (std::uint64_t s = states_.rbegin()->first; s < step; ++s) {
        run(s);
    }
    return states_.at(step);
}

const Tensor& ScalarReplay::node_output(std::uint64_t step, std::uint32_t node) {
    state_before(step + 1);
    return outputs_.at(step).at(node);
}

std::optional<std::uint64_t> ScalarReplay::diverged_at() { return diverged_at_; }

Hash256 ScalarReplay::state_root_after(std::uint64_t step) { return root_of(state_before(step + 1)); }

std::vector<Tensor> state_of(Replay& replay, std::uint64_t step) {
    std::vector<Tensor> out;
    const std::size_t count = replay.state_size(step);
    for (std::uint32_t i = 0; i < count; ++i) {
        out.push_back(replay.state_tensor(step, i));
    }
    return out;
}

Claim make_claim(
    const World& world, Replay& responder, bool initialisation, std::uint64_t first_step, std::uint32_t step_count,
    std::uint64_t seed
) {
    Claim claim{
        .program = world.commitment(),
        .dataset_root = responder.dataset_tree().root(),
        .seed = seed,
        .initialisation = initialisation,
        .first_step = first_step,
        .step_count = step_count,
        .before = {},
        .after = responder.state_root_after(first_step + step_count - 1)};
    claim.before = initialisation ? claim.program.initial_root : root_of(state_of(responder, first_step));
    return claim;
}

Claim make_diverging_claim(const World& world, Replay& responder, std::uint64_t first_step, std::uint32_t step_count) {
    Claim claim = make_claim(world, responder, false, first_step, step_count, 7);
    claim.diverges = true;
    return claim;
}

Outcome play(const Claim& claim, Replay& responder, Replay& challenger, bool challenger_proves) {
    Outcome outcome;
    outcome.position = start_position(claim);
    std::vector<NodeReveal> reveals;
    while (!outcome.position.is_at_proof()) {
        const auto children = make_reveal(claim, outcome.position, responder);
        if (const auto first = first_node_of(outcome.position)) {
            reveals.push_back(
                {.first_node = *first,
                 .child_height = split(claim, outcome.position).child_height,
                 .children = children}
            );
        }
        if (auto proof = make_divergence_proof(claim, outcome.position, challenger)) {
            outcome.proof = *std::move(proof);
            outcome.bytes += codec::encode(outcome.proof).size();
            const auto ruling = judge(claim, outcome.position, outcome.proof);
            REQUIRE(ruling.has_value());
            outcome.ruling = *ruling;
            return outcome;
        }
        const auto revealed = reveal(claim, outcome.position, children);
        REQUIRE(revealed.has_value());
        const Selection selection = make_selection(claim, *revealed, challenger);
        const auto selected = select(claim, *revealed, selection);
        REQUIRE(selected.has_value());
        outcome.bytes += codec::encode(children).size() + codec::encode(selection).size();
        outcome.position = *selected;
    }
    Replay& prover = challenger_proves ? challenger : responder;
    outcome.proof = make_proof(claim, outcome.position, prover, reveals);
    outcome.bytes += codec::encode(outcome.proof).size();
    const auto ruling = judge(claim, outcome.position, outcome.proof);
    REQUIRE(ruling.has_value());
    outcome.ruling = *ruling;
    return outcome;
}

}  // namespace assay::dispute::testing
