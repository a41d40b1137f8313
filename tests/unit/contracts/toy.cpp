// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/toy.hpp>

#include <doctest/doctest.h>

#include <bit>

namespace assay::contracts::test {
namespace {

using canonical::DType;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using canonical::Tensor;

constexpr Shape kWeights{64, 40};
constexpr Shape kBias{1, 40};
constexpr std::uint32_t kBatch = 4;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

Input from_node(std::uint32_t index, Shape shape, DType dtype = DType::kF32) {
    return {Source::kNode, index, dtype, shape};
}
Input from_state(std::uint32_t index, Shape shape) { return {Source::kState, index, DType::kF32, shape}; }

canonical::Graph make_init() {
    return {
        Node{Op::kUniform, DType::kF32, kWeights, {bits(0.5F), 1}, {}},
        Node{Op::kFill, DType::kF32, kBias, {bits(0.25F), 0}, {}},
        Node{Op::kCommit, DType::kF32, {}, {}, {from_node(0, kWeights), from_node(1, kBias)}}};
}

canonical::Graph make_step(float scale, float noise) {
    canonical::Graph graph{
        Node{Op::kBatchRows, DType::kI32, {kBatch, 3}, {}, {}},
        Node{Op::kScale, DType::kF32, kWeights, {bits(scale), 0}, {from_state(0, kWeights)}},
        Node{Op::kAdd, DType::kF32, kWeights, {}, {from_node(1, kWeights), from_state(1, kBias)}},
        Node{Op::kRowMax, DType::kF32, {64, 1}, {}, {from_node(2, kWeights)}},
        Node{Op::kSub, DType::kF32, kWeights, {}, {from_node(2, kWeights), from_node(3, {64, 1})}}};
    if (noise != 0) {
        graph.push_back(Node{Op::kUniform, DType::kF32, kWeights, {bits(noise), 2}, {}});
        graph.push_back(Node{Op::kAdd, DType::kF32, kWeights, {}, {from_node(4, kWeights), from_node(5, kWeights)}});
    }
    const auto last = static_cast<std::uint32_t>(graph.size() - 1);
    graph.push_back(Node{Op::kCommit, DType::kF32, {}, {}, {from_node(last, kWeights), from_state(1, kBias)}});
    return graph;
}

}  // namespace

ToyRows::ToyRows() : data_(kRows * kWidth * 4) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
        data_[i] = static_cast<std::uint8_t>(i % 4 == 0 ? i : 0);
    }
}

Bytes ToyRows::row(std::uint64_t index) const {
    const ByteView row = ByteView(data_).subspan(static_cast<std::size_t>(index) * kWidth * 4, kWidth * 4);
    return {row.begin(), row.end()};
}

Hash256 root_of(const std::vector<Tensor>& state) {
    std::vector<Hash256> commitments;
    for (const Tensor& tensor : state) {
        commitments.push_back(dispute::commit_tensor(tensor));
    }
    return dispute::state_root(commitments);
}

ToyRun::ToyRun(std::optional<Tamper> tamper, float scale, ToyNoise noise)
    : tamper_(tamper),
      seed_(noise.seed),
      init_(make_init()),
      step_(make_step(scale, noise.bound)),
      rows_tree_(dispute::dataset_tree(rows_)) {
    const std::vector<canonical::TensorType> types{{DType::kF32, kWeights}, {DType::kF32, kBias}};
    REQUIRE(canonical::check_graph(init_, {}, types).has_value());
    REQUIRE(canonical::check_graph(step_, types, types).has_value());
    states_.push_back(run_step(true, 0, {}).next);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
        states_.push_back(run_step(false, step, states_.back()).next);
    }
}

bool ToyRun::is_tampered(bool initialisation, std::uint64_t step, std::uint32_t node) const {
    return tamper_ && !tamper_->stale && tamper_->initialisation == initialisation && tamper_->node == node &&
           (tamper_->step == step || (tamper_->onwards && tamper_->step < step));
}

bool ToyRun::is_stale(bool initialisation, std::uint64_t step) const {
    return tamper_ && tamper_->stale && !initialisation && tamper_->step == step;
}

ToyRun::Step ToyRun::run_step(bool initialisation, std::uint64_t step, const std::vector<Tensor>& state) const {
    const canonical::Graph& nodes = graph(initialisation);
    // The initialisation is the task's, whatever the steps' seed (PRF-3).
    const canonical::StepContext context{initialisation ? kSeed : seed_, step, rows_.shape()};
    Step result;
    const std::vector<Tensor>& read = is_stale(initialisation, step) ? states_.front() : state;
    const auto tensor_of = [&](const Input& input) -> const Tensor& {
        return input.source == Source::kNode ? result.outputs[input.index] : read[input.index];
    };
    for (std::uint32_t i = 0; i + 1 < nodes.size(); ++i) {
        std::vector<const Tensor*> inputs;
        for (const Input& input : nodes[i].inputs) {
            inputs.push_back(&tensor_of(input));
        }
        Tensor output = canonical::execute_node(nodes[i], context, rows_, inputs);
        if (is_tampered(initialisation, step, i)) {
            output.data[tamper_->byte] ^= 1U;
        }
        result.outputs.push_back(std::move(output));
    }
    for (const Input& input : nodes.back().inputs) {
        result.next.push_back(input.source == Source::kNode ? result.outputs[input.index] : state[input.index]);
    }
    if (is_tampered(initialisation, step, static_cast<std::uint32_t>(nodes.size() - 1))) {
        result.next[0].data[tamper_->byte] ^= 1U;
    }
    return result;
}

TaskSpec ToyRun::spec() const {
    TaskSpec spec = make_spec();
    spec.title = "toy";
    spec.program = dispute::commit_program(init_, step_, 2, kBatch, rows_.shape());
    spec.dataset_root = rows_tree_.root();
    spec.seed = kSeed;
    spec.steps = kSteps;
    spec.checkpoint_interval = kInterval;
    return spec;
}

Hash256 ToyRun::checkpoint_root(std::uint32_t index) const {
    return root_of(states_[std::min<std::uint64_t>(std::uint64_t{index} * kInterval, kSteps)]);
}

std::vector<Hash256> ToyRun::checkpoint_roots() const {
    std::vector<Hash256> roots;
    for (std::uint32_t i = 0; i <= segment_count(spec()); ++i) {
        roots.push_back(checkpoint_root(i));
    }
    return roots;
}

ToyReplay::ToyReplay(const ToyRun& run, const dispute::Claim& claim, std::vector<Tensor> before)
    : run_(run),
      initialisation_(claim.initialisation),
      first_step_(claim.first_step),
      last_step_(claim.first_step + claim.step_count - 1),
      before_(std::move(before)) {}

std::optional<std::uint64_t> ToyReplay::diverged_at() {
    for (std::uint64_t step = first_step_; step <= last_step_; ++step) {
        if (dispute::open_divergence(step_of(step).next)) {
            return step;
        }
    }
    return std::nullopt;
}

const ToyRun::Step& ToyReplay::step_of(std::uint64_t step) {
    for (std::uint64_t s = first_step_; s <= step; ++s) {
        if (!steps_.contains(s)) {
            const auto& state = s == first_step_ ? before_ : steps_.at(s - 1).next;
            steps_.emplace(s, run_.run_step(initialisation_, s, state));
        }
    }
    return steps_.at(step);
}

Hash256 ToyReplay::state_root_after(std::uint64_t step) { return root_of(step_of(step).next); }

const std::vector<Tensor>& ToyReplay::state_before(std::uint64_t step) {
    return step == first_step_ ? before_ : step_of(step - 1).next;
}

const Tensor& ToyReplay::node_output(std::uint64_t step, std::uint32_t node) { return step_of(step).outputs.at(node); }

std::uint32_t play_until(
    Chain& chain, const DisputeId& id, const ToyRun& responder, const ToyRun& challenger, const Actor& challenging,
    std::optional<dispute::Level> level
) {
    const dispute::Claim claim = find_dispute(chain.view, id)->claim;
    const std::vector<Tensor> before = claim.initialisation ? std::vector<Tensor>{} : responder.state(claim.first_step);
    ToyReplay theirs(responder, claim, before);
    ToyReplay ours(challenger, claim, before);
    const AccountId answers = find_dispute(chain.view, id)->responder;
    const Actor& responding = chain.actor_of(answers);
    std::vector<dispute::NodeReveal> reveals;
    for (std::uint32_t moves = 0;; ++moves) {
        const Dispute dispute = find_dispute(chain.view, id).value();
        const dispute::Position& position = dispute.position;
        if (dispute.state() != DisputeState::kActive || position.level() == level) {
            return moves;
        }
        if (const auto proof = dispute::make_divergence_proof(claim, position, ours)) {
            REQUIRE(chain.run(challenging, ProveMove{id, *proof}) == 0);
        } else if (position.is_at_proof()) {
            REQUIRE(chain.run(challenging, ProveMove{id, dispute::make_proof(claim, position, ours, reveals)}) == 0);
        } else if (position.pending().empty()) {
            const auto children = dispute::make_reveal(claim, position, theirs);
            if (const auto first_node = dispute::first_node_of(position)) {
                reveals.push_back({*first_node, dispute::split(claim, position).child_height, children});
            }
            REQUIRE(chain.run(responding, RevealMove{id, position.rounds, children}) == 0);
        } else {
            const auto selection = dispute::make_selection(claim, position, ours);
            REQUIRE(chain.run(challenging, SelectMove{id, position.rounds, selection}) == 0);
        }
    }
}

std::uint32_t play_dispute(
    Chain& chain, const DisputeId& id, const ToyRun& responder, const ToyRun& challenger, const Actor& challenging
) {
    return play_until(chain, id, responder, challenger, challenging, std::nullopt);
}

const ToyRun& honest() {
    static const ToyRun kRun;
    return kRun;
}

TaskId complete_toy_task(Chain& chain, const ToyRun& run) {
    chain.bond_all();
    const TaskId id = chain.start_task(run.spec());
    chain.post_checkpoints(id, run.checkpoint_roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    return id;
}

dispute::StateOpening open_toy_tile(
    const ToyRun& run, std::uint32_t checkpoint, std::uint32_t tensor, std::uint64_t tile
) {
    const std::uint64_t step = std::uint64_t{checkpoint} * ToyRun::kInterval;
    const auto& state = run.state(std::min(step, ToyRun::kSteps));
    std::vector<Hash256> commitments;
    for (const auto& part : state) {
        commitments.push_back(dispute::commit_tensor(part));
    }
    dispute::StateOpening out;
    out.tensor = tensor;
    out.tile = tile % canonical::tile_count(state[tensor].shape);
    out.type = {state[tensor].dtype, state[tensor].shape};
    out.opening.tile = canonical::tile_of(state[tensor], out.tile);
    out.opening.tile_path = dispute::tile_tree(state[tensor]).path(out.tile);
    out.opening.source_path = merkle::Tree(commitments).path(tensor);
    return out;
}

}  // namespace assay::contracts::test
