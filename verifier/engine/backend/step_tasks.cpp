// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/backend/step_tasks.hpp>

#include <utility>

namespace assay::engine {

using canonical::Graph;
using canonical::Input;
using canonical::Op;
using canonical::Source;

bool is_quantised_to(const Graph& graph, const Input& input, std::uint32_t precision) {
    return input.source == Source::kNode && graph[input.index].op == Op::kQuantise &&
           graph[input.index].attributes[0] <= precision;
}

StepTasks tasks_of(const Graph& graph) {
    const std::size_t count = graph.size() - 1;
    const auto slot_of = [count](const Input& input) {
        return input.source == Source::kNode ? input.index : static_cast<Slot>(count) + input.index;
    };
    StepTasks out;
    std::vector<std::size_t> last_use(count);
    for (std::size_t i = 0; i < count; ++i) {
        Task task{.node = graph[i], .inputs = {}, .output = static_cast<Slot>(i)};
        last_use[i] = i;
        for (const Input& input : graph[i].inputs) {
            task.inputs.push_back(slot_of(input));
            if (input.source == Source::kNode) {
                last_use[input.index] = i;
            }
        }
        if (task.node.op == Op::kContract) {
            const std::uint32_t precision = task.node.attributes[0];
            task.is_bounded = is_quantised_to(graph, task.node.inputs[0], precision) &&
                              is_quantised_to(graph, task.node.inputs[2], precision);
        }
        out.tasks.push_back(std::move(task));
    }
    for (std::size_t i = 0; i < graph.back().inputs.size(); ++i) {
        const Input& input = graph.back().inputs[i];
        out.next.push_back(slot_of(input));
        out.state.push_back(static_cast<Slot>(count + i));
        if (input.source == Source::kNode) {
            last_use[input.index] = count;
        }
    }
    out.expired.resize(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
        out.expired[last_use[i]].push_back(static_cast<Slot>(i));
    }
    return out;
}

}  // namespace assay::engine
