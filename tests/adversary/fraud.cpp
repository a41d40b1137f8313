// SPDX-License-Identifier: Apache-2.0
#include <tests/adversary/fraud.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <core/canonical/executor.hpp>
#include <tests/adversary/outer_step.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::adversary {
namespace {

using canonical::DType;
using canonical::Graph;
using canonical::Op;
using canonical::Source;
using canonical::Tensor;

/// The node nearest to the middle of the graph that `fits`.
template <class Fits>
std::optional<std::uint32_t> middle_node(const Graph& graph, Fits fits) {
    const std::size_t middle = graph.size() / 2;
    std::optional<std::uint32_t> best;
    for (std::uint32_t i = 0; i + 1 < graph.size(); ++i) {
        const auto distance = [middle](std::size_t at) { return at > middle ? at - middle : middle - at; };
        if (fits(graph[i]) && (!best || distance(i) < distance(*best))) {
            best = i;
        }
    }
    return best;
}

std::optional<std::uint32_t> first_node(const Graph& graph, Op op) {
    const auto found = std::find_if(graph.begin(), graph.end(), [op](const auto& node) { return node.op == op; });
    return found == graph.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(found - graph.begin()));
}

/// What is subtracted from the first parameter: the second input of the kSub that makes its next value.
std::optional<std::uint32_t> update_node(const Graph& graph) {
    for (const auto& next : graph.back().inputs) {
        if (next.source != Source::kNode) {
            continue;
        }
        const auto& node = graph[next.index];
        if (node.op == Op::kSub && node.inputs[1].source == Source::kNode) {
            return node.inputs[1].index;
        }
    }
    return std::nullopt;
}

bool alters_steps(Dishonesty kind) {
    switch (kind) {
        case Dishonesty::kTile:
        case Dishonesty::kSkip:
        case Dishonesty::kData:
        case Dishonesty::kInit:
        case Dishonesty::kOptimizer:
        case Dishonesty::kFalseAccuser:
        case Dishonesty::kReject:
        case Dishonesty::kScore:
        case Dishonesty::kStale:
        case Dishonesty::kOuter:
        case Dishonesty::kFold:
            return true;
        default:
            return false;
    }
}

/// How much of a segment's update a push adds to it.
constexpr float kPush = 1.0F;

float load_f32(const Tensor& tensor, std::size_t index) {
    float value = 0;
    std::memcpy(&value, tensor.data.data() + index * sizeof value, sizeof value);
    return value;
}

void store_f32(Tensor& tensor, std::size_t index, float value) {
    value += 0.0F;  // no negative zero, as every canonical result
    std::memcpy(tensor.data.data() + index * sizeof value, &value, sizeof value);
}

}  // namespace

Fraud::Fraud(
    Dishonesty kind, std::shared_ptr<const TaskArtifacts> artifacts, std::optional<std::uint64_t> step,
    std::optional<std::uint32_t> node
)
    : kind_(kind), artifacts_(std::move(artifacts)), node_(node) {
    const contracts::TaskSpec& spec = artifacts_->spec;
    first_ = std::min(step.value_or(spec.steps / 2), spec.steps - 1);
    last_ = first_;
    segment_ = static_cast<std::uint32_t>(first_ / spec.checkpoint_interval) + 1;
    if (kind_ == Dishonesty::kScore) {
        first_ = last_ = spec.steps;  // none of the training's
        segment_ = contracts::segment_count(spec) + 1;
    }
    if (!alters_steps(kind_) || kind_ == Dishonesty::kScore) {
        node_.reset();
        return;
    }
    aim();
    const Graph& altered = initialisation_ ? artifacts_->program.init : artifacts_->program.step;
    const bool is_everywhere = kind_ == Dishonesty::kSkip || kind_ == Dishonesty::kStale;
    if (!is_everywhere && (!node_ || *node_ + 1 >= altered.size())) {
        throw std::runtime_error(std::string("this program has no node for the fraud ") + to_string(kind_));
    }
    const bool is_tile =
        kind_ == Dishonesty::kTile || kind_ == Dishonesty::kFalseAccuser || kind_ == Dishonesty::kReject;
    if (is_tile) {
        tile_ = canonical::tile_count(altered[*node_].shape) / 2;
    }
}

Fraud Fraud::overstating(std::shared_ptr<const TaskArtifacts> measuring) {
    Fraud fraud(Dishonesty::kNone, std::move(measuring));
    fraud.kind_ = Dishonesty::kTile;
    fraud.initialisation_ = true;
    fraud.first_ = fraud.last_ = 0;
    fraud.node_ = fraud.artifacts_->program.init.back().inputs.front().index;
    fraud.tile_ = 0;
    return fraud;
}

Fraud Fraud::flattering(std::shared_ptr<const TaskArtifacts> evaluating) {
    Fraud fraud(Dishonesty::kScore, std::move(evaluating));
    fraud.initialisation_ = true;
    fraud.first_ = fraud.last_ = 0;
    fraud.node_ = fraud.artifacts_->program.init.back().inputs.front().index;
    return fraud;
}

/// Chooses where, as far as nobody asked for a place.
void Fraud::aim() {
    const contracts::TaskSpec& spec = artifacts_->spec;
    const Graph& graph = artifacts_->program.step;
    switch (kind_) {
        case Dishonesty::kSkip:
            first_ = artifacts_->first_step(segment_);
            last_ = first_ + artifacts_->step_count(segment_) - 1;
            node_.reset();
            break;
        case Dishonesty::kStale:
            first_ = last_ = artifacts_->first_step(segment_);
            node_.reset();
            break;
        case Dishonesty::kOuter:
        case Dishonesty::kFold:
            aim_at_outer_step();
            break;
        case Dishonesty::kData:
            node_ = first_node(graph, Op::kBatchRows);
            break;
        case Dishonesty::kInit:
            initialisation_ = true;
            first_ = last_ = 0;
            segment_ = 0;
            node_ = first_node(artifacts_->program.init, Op::kUniform);
            break;
        case Dishonesty::kOptimizer:
            last_ = spec.steps - 1;
            node_ = update_node(graph);
            break;
        case Dishonesty::kReject:
            first_ = 0;
            last_ = spec.steps - 1;
            segment_ = 1;
            [[fallthrough]];
        default:
            if (!node_) {
                node_ = middle_node(graph, [](const auto& n) { return n.op == Op::kContract; });
            }
            if (!node_) {
                node_ = middle_node(graph, [](const auto& n) { return n.dtype == DType::kF32; });
            }
            break;
    }
}

void Fraud::aim_at_outer_step() {
    const program::Program& program = artifacts_->program;
    first_ = last_ = artifacts_->first_step(segment_) + artifacts_->step_count(segment_) - 1;
    outer_ = kind_ == Dishonesty::kOuter ? outer_steps(program) : first_sums(program);
    node_.reset();
    if (!outer_.empty()) {
        node_ = *std::min_element(outer_.begin(), outer_.end());
    }
}

// The step's outputs as they would be if the turn had begun with what checkpoint 0 has of the tensors that are the
// turn's: its replica's own, and those that every turn works on. Of a program without turns that is all.
engine::Tamper Fraud::with_old_turn(const canonical::StepContext& context, std::span<const Tensor> before) const {
    const program::Program& program = artifacts_->program;
    canonical::StepContext first = context;
    first.step = 0;
    const std::vector<Tensor> initial =
        canonical::execute_graph(program.init, first, *artifacts_->dataset, artifacts_->initial).value();
    std::vector<Tensor> state = initial;
    if (const auto turns = plan::find_turns(program)) {
        state.assign(before.begin(), before.end());
        for (const std::uint32_t tensor : turns->own[turns->replica_of(context.step)]) {
            state[tensor] = initial[tensor];
        }
        for (const auto& [tensor, source] : turns->worked[turns->replica_of(context.step)]) {
            state[tensor] = initial[tensor];
        }
    }
    return [this, context, state = std::move(state),
            made = std::vector<Tensor>{}](std::uint64_t, std::uint32_t node, Tensor& output) mutable {
        // The engine may leave nodes out that nothing needs.
        for (auto i = static_cast<std::uint32_t>(made.size()); i <= node; ++i) {
            const canonical::Node& each = artifacts_->program.step[i];
            std::vector<const Tensor*> inputs;
            for (const canonical::Input& input : each.inputs) {
                inputs.push_back(input.source == Source::kNode ? &made[input.index] : &state[input.index]);
            }
            made.push_back(canonical::execute_node(each, context, *artifacts_->dataset, inputs));
        }
        output = made[node];
    };
}

engine::Tamper Fraud::with_wrong_outer_step() const {
    const Graph& graph = artifacts_->program.step;
    return [this, &graph,
            seen = std::map<std::uint32_t, Tensor>{}](std::uint64_t, std::uint32_t node, Tensor& output) mutable {
        const bool is_altered = std::find(outer_.begin(), outer_.end(), node) != outer_.end();
        if (is_altered && kind_ == Dishonesty::kFold) {
            output = seen.at(graph[node].inputs[1].index);
        } else if (is_altered) {
            for (std::size_t i = 0; i < output.shape.element_count(); ++i) {
                store_f32(output, i, load_f32(output, i) * 2.0F);
            }
        }
        const bool is_summand = std::any_of(outer_.begin(), outer_.end(), [&](std::uint32_t sum) {
            return graph[sum].inputs[1].index == node;
        });
        if (is_summand && kind_ == Dishonesty::kFold) {
            seen.insert_or_assign(node, output);
        }
    };
}

bool Fraud::has_place() const {
    const bool has_score = kind_ != Dishonesty::kScore || artifacts_->spec.evaluation;
    return kind_ == Dishonesty::kWithhold || (alters_steps(kind_) && kind_ != Dishonesty::kReject && has_score);
}

bool Fraud::touches(bool initialisation, std::uint64_t step) const {
    if (!alters_steps(kind_) || initialisation != initialisation_ || step < first_ || step > last_) {
        return false;
    }
    return kind_ != Dishonesty::kReject || step % artifacts_->spec.checkpoint_interval == 0;
}

/// The first element of the tile, moved far enough to matter.
void Fraud::alter(Tensor& output) const {
    const std::uint64_t columns = canonical::tile_cols(output.shape);
    const std::uint64_t row = *tile_ / columns * canonical::kTileDim;
    const std::uint64_t col = *tile_ % columns * canonical::kTileDim;
    const std::size_t index = row * output.shape.cols + col;
    if (output.dtype == DType::kF32) {
        const float value = load_f32(output, index);
        store_f32(output, index, value + 1.0F != value ? value + 1.0F : value * 2.0F);
    } else {
        output.data[index * canonical::size_of(output.dtype)] ^= 1U;
    }
}

engine::Tamper Fraud::tamper(bool initialisation, std::uint64_t step, std::span<const Tensor> before) const {
    if (!touches(initialisation, step)) {
        return {};
    }
    canonical::StepContext context{.seed = artifacts_->spec.seed, .step = step, .dataset = artifacts_->program.dataset};
    switch (kind_) {
        case Dishonesty::kTile:
        case Dishonesty::kFalseAccuser:
        case Dishonesty::kReject:
            return [this](std::uint64_t, std::uint32_t node, Tensor& output) {
                if (node == node_) {
                    alter(output);
                }
            };
        case Dishonesty::kSkip:
            return [this, state = std::vector<Tensor>(before.begin(), before.end())](
                       std::uint64_t, std::uint32_t node, Tensor& output
                   ) {
                const auto& next = artifacts_->program.step.back().inputs;
                for (std::size_t i = 0; i < next.size(); ++i) {
                    if (next[i].source == Source::kNode && next[i].index == node) {
                        output = state[i];
                    }
                }
            };
        case Dishonesty::kStale:
            return with_old_turn(context, before);
        case Dishonesty::kOuter:
        case Dishonesty::kFold:
            return with_wrong_outer_step();
        case Dishonesty::kData:
            ++context.step;
            return [this, context](std::uint64_t, std::uint32_t node, Tensor& output) {
                if (node == node_) {
                    output = canonical::execute_node(artifacts_->program.step[node], context, *artifacts_->dataset, {});
                }
            };
        case Dishonesty::kInit:
            ++context.seed;
            return [this, context](std::uint64_t, std::uint32_t node, Tensor& output) {
                if (artifacts_->program.init[node].op == Op::kUniform) {
                    output = canonical::execute_node(artifacts_->program.init[node], context, *artifacts_->dataset, {});
                }
            };
        case Dishonesty::kOptimizer:
        case Dishonesty::kScore:
            return
                [this, factor = kind_ == Dishonesty::kScore ? 0.5F
                                                            : 2.0F](std::uint64_t, std::uint32_t node, Tensor& output) {
                    for (std::size_t i = 0; node == node_ && i < output.shape.element_count(); ++i) {
                        store_f32(output, i, load_f32(output, i) * factor);
                    }
                };
        default:
            return {};
    }
}

bool Fraud::alters_training() const { return alters_steps(kind_) && kind_ != Dishonesty::kScore; }

std::vector<Tensor> Fraud::passed_on(std::span<const Tensor> before, std::vector<Tensor> after) const {
    const auto first = std::find_if(after.begin(), after.end(), [](const Tensor& t) { return t.dtype == DType::kF32; });
    if (kind_ != Dishonesty::kPush || first == after.end()) {
        return after;
    }
    const Tensor& start = before[static_cast<std::size_t>(first - after.begin())];
    for (std::size_t i = 0; i < first->shape.element_count(); ++i) {
        const float value = load_f32(*first, i);
        store_f32(*first, i, value + kPush * (value - load_f32(start, i)));
    }
    return after;
}

}  // namespace assay::adversary
