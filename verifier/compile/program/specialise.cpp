// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/specialise.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>

namespace assay::program {

using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using canonical::Tensor;

namespace {

constexpr Shape kNumber{1, 1};

bool is_node(const Input& input) { return input.source == Source::kNode; }

class NoRows final : public canonical::RowSource {
  public:
    canonical::DatasetShape shape() const override { return {}; }
    Bytes row(std::uint64_t /*index*/) const override { return {}; }
};

/// Which nodes are numbers that follow from the step's number and from constants.
std::vector<bool> numbers_of(const Graph& graph) {
    std::vector<bool> is_number(graph.size(), false);
    for (std::size_t i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        const bool is_source = node.op == Op::kStepCount || node.op == Op::kFill;
        const bool follows = !node.inputs.empty() && node.op != Op::kCommit &&
                             std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Input& input) {
                                 return is_node(input) && is_number[input.index];
                             });
        is_number[i] = node.shape == kNumber && (is_source || follows);
    }
    return is_number;
}

/// A number that is chosen from numbers takes no work worth leaving out.
bool is_choice(const Graph& graph, std::size_t i, const std::vector<bool>& is_number) {
    const Node& node = graph[i];
    return node.op == Op::kSelect && !is_number[i] && is_node(node.inputs[1]) && is_number[node.inputs[1].index] &&
           node.inputs[0].shape == node.shape && node.inputs[2].shape == node.shape;
}

}  // namespace

StepKinds::StepKinds(const Graph& graph) {
    const std::vector<bool> is_number = numbers_of(graph);
    std::vector<bool> is_needed(graph.size(), false);
    for (std::size_t i = graph.size(); i-- > 0;) {
        if (is_choice(graph, i, is_number)) {
            choices_.push_back(static_cast<std::uint32_t>(i));
            is_needed[graph[i].inputs[1].index] = true;
        }
        if (is_needed[i]) {
            for (const Input& input : graph[i].inputs) {
                is_needed[input.index] = true;
            }
        }
    }
    std::reverse(choices_.begin(), choices_.end());
    std::vector<std::uint32_t> place(graph.size(), 0);
    for (std::size_t i = 0; i < graph.size(); ++i) {
        if (is_needed[i]) {
            Node node = graph[i];
            for (Input& input : node.inputs) {
                input.index = place[input.index];
            }
            place[i] = static_cast<std::uint32_t>(counted_.size());
            counted_.push_back(std::move(node));
        }
    }
    conditions_.reserve(choices_.size());
    for (const std::uint32_t choice : choices_) {
        conditions_.push_back(place[graph[choice].inputs[1].index]);
    }
}

StepKind StepKinds::kind_of(std::uint64_t step) const {
    std::vector<Tensor> values;
    values.reserve(counted_.size());
    for (const Node& node : counted_) {
        std::vector<const Tensor*> inputs;
        inputs.reserve(node.inputs.size());
        for (const Input& input : node.inputs) {
            inputs.push_back(&values[input.index]);
        }
        values.push_back(canonical::execute_node(node, {.seed = 0, .step = step, .dataset = {}}, NoRows(), inputs));
    }
    StepKind kind;
    kind.reserve(conditions_.size());
    for (const std::uint32_t condition : conditions_) {
        float value = 0.0F;
        std::memcpy(&value, values[condition].data.data(), sizeof value);
        kind.push_back(value != 0.0F);
    }
    return kind;
}

Specialised StepKinds::graph_of(const Graph& graph, const StepKind& kind, std::span<const std::uint32_t> kept) const {
    ASSERT(kind.size() == choices_.size());
    // What stands for each node: itself, or what it chooses.
    std::vector<Input> stands(graph.size());
    const auto standing = [&](const Input& input) { return is_node(input) ? stands[input.index] : input; };
    std::size_t choice = 0;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        stands[i] = Input{Source::kNode, i, node.dtype, node.shape};
        if (choice < choices_.size() && choices_[choice] == i) {
            stands[i] = standing(node.inputs[kind[choice] ? 0 : 2]);
            ++choice;
        }
    }
    std::vector<bool> is_needed(graph.size(), false);
    is_needed.back() = true;
    const auto need = [&](const Input& input) {
        if (is_node(input)) {
            is_needed[input.index] = true;
        }
    };
    for (const std::uint32_t node : kept) {
        need(stands[node]);
        ASSERT(is_node(stands[node]));
    }
    for (std::size_t i = graph.size(); i-- > 0;) {
        if (is_needed[i]) {
            for (const Input& input : graph[i].inputs) {
                need(standing(input));
            }
        }
    }
    std::vector<std::uint32_t> place(graph.size(), 0);
    Specialised out;
    for (std::size_t i = 0; i < graph.size(); ++i) {
        if (!is_needed[i]) {
            continue;
        }
        Node node = graph[i];
        for (Input& input : node.inputs) {
            input = standing(input);
            input.index = is_node(input) ? place[input.index] : input.index;
        }
        place[i] = static_cast<std::uint32_t>(out.graph.size());
        out.graph.push_back(std::move(node));
    }
    out.kept.reserve(kept.size());
    for (const std::uint32_t node : kept) {
        out.kept.push_back(place[stands[node].index]);
    }
    return out;
}

}  // namespace assay::program
