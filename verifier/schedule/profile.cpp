// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/profile.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <core/dispute/work.hpp>
#include <verifier/plan/grouping.hpp>
#include <verifier/plan/node_rules.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::schedule {
namespace {

using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using plan::Plan;

double bytes_of(const Node& node) {
    return static_cast<double>(node.shape.element_count()) * canonical::size_of(node.dtype);
}

double elements_of(const Graph& graph) {
    double out = 0.0;
    for (const Node& node : graph) {
        out += static_cast<double>(node.shape.element_count());
    }
    return out;
}

// The share of the step's work that rank 0 does.
double share_of_work(const Plan& plan, const Graph& graph) {
    return static_cast<double>(plan::work_of(plan, graph, 0)) / static_cast<double>(dispute::work_of(graph));
}

// How many exchanges the ranks wait for, one after the other.
double rounds_of(const Plan& plan, const Graph& graph) {
    const auto last = input_transfers(plan, graph, {static_cast<std::uint32_t>(graph.size() - 1), plan::Item::kWhole});
    const bool has_last = std::any_of(last.begin(), last.end(), [](const auto& all) { return !all.empty(); });
    return static_cast<double>(plan.exchanges[0].size() + (has_last ? 1U : 0U));
}

Division planned(const program::Program& program, const plan::Layout& layout) {
    const Plan plan = plan::make_plan(program, layout);
    const auto first = static_cast<double>(plan::traffic_of(plan, program.step, 0).bytes());
    const auto second = static_cast<double>(plan::traffic_of(plan, program.step, 1).bytes());
    Division out;
    // Each of two machines sends the other one half; stages send one after the other.
    out.bytes = first + second;
    out.rounds = layout.stages > 1 ? 2.0 : rounds_of(plan, program.step);
    out.serial = std::clamp(2.0 * share_of_work(plan, program.step) - 1.0, 0.0, 1.0);
    return out;
}

// Whether a node of the forward pass depends on the batch.
std::vector<bool> of_batch(const program::Program& program) {
    std::vector<bool> out(program.loss_node + std::size_t{1});
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Node& node = program.step[i];
        out[i] = node.op == Op::kBatchRows || std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Input& x) {
                     return x.source == Source::kNode && out[x.index];
                 });
    }
    return out;
}

// What crosses the narrowest cut in the middle half of the forward pass.
double narrowest_cut(const program::Program& program) {
    const std::vector<bool> is_of_batch = of_batch(program);
    const std::size_t count = is_of_batch.size();
    std::vector<std::size_t> last_use(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (const Input& input : program.step[i].inputs) {
            if (input.source == Source::kNode) {
                last_use[input.index] = i;
            }
        }
    }
    std::vector<double> ends(count + 1);
    double alive = 0.0;
    double least = -1.0;
    for (std::size_t i = 0; i < count; ++i) {
        alive -= ends[i];
        if (is_of_batch[i] && last_use[i] > i) {
            alive += bytes_of(program.step[i]);
            ends[last_use[i]] += bytes_of(program.step[i]);
        }
        const bool is_in_the_middle = i >= count / 4 && i <= count - count / 4;
        if (is_in_the_middle && alive > 0.0 && (least < 0.0 || alive < least)) {
            least = alive;
        }
    }
    return std::max(least, 0.0);
}

struct Products {
    double sums = 0.0;  // elements that tensor parallelism adds, forward and backward
    double count = 0.0;
    double accumulator = 8.0;  // bytes
};
Products products_of(const program::Program& program) {
    const std::vector<bool> is_of_batch = of_batch(program);
    const auto depends = [&](const Input& input) { return input.source == Source::kNode && is_of_batch[input.index]; };
    Products out;
    for (std::uint32_t i = 0; i <= program.loss_node; ++i) {
        const Node& node = program.step[i];
        if (node.op != Op::kContract || depends(node.inputs[0]) == depends(node.inputs[2])) {
            continue;  // of two activations
        }
        const Input& activations = depends(node.inputs[0]) ? node.inputs[0] : node.inputs[2];
        const double smaller = std::min<double>(
            static_cast<double>(activations.shape.element_count()), static_cast<double>(node.shape.element_count())
        );
        out.sums += smaller;  // every second product, once forward and once backward
        out.count += 1.0;
        out.accumulator = plan::accumulator_bytes(program.step, i);
    }
    return out;
}

void set_formulas(StepProfile& out, const program::Program& program, double parameter_count) {
    constexpr double kResult = 4.0;
    constexpr double kRoundsOfSum = 3.0;  // maxima, sums, results
    const Products products = products_of(program);
    const std::vector<bool> is_parameter = plan::parameters_of(program);
    const auto tensors = static_cast<double>(std::count(is_parameter.begin(), is_parameter.end(), true));
    // Beside the sums: gradients or parameters come back once, and once more if both do.
    constexpr std::array<double, 4> kResults{1.0, 2.0, 1.0, 2.0};
    constexpr std::array<double, 4> kRounds{kRoundsOfSum, 4.0, kRoundsOfSum, 5.0};
    // Tensors are exchanged together, as many as a message has room for. Of divided parameters and their gradients
    // plans of two to six layers exchange half as many times as there are tensors, and more if messages are full.
    const std::array<double, 4> least{5.0, 6.0, 5.0, 0.5 * tensors};
    const auto message_bytes = static_cast<double>(plan::GroupLimits{}.message_bytes);
    for (std::size_t zero = 0; zero < out.data.size(); ++zero) {
        out.data[zero].bytes = parameter_count * (products.accumulator + kResults[zero] * kResult);
        const double messages = out.data[zero].bytes / 2.0 / message_bytes;  // of each of two machines
        out.data[zero].rounds = std::min(kRounds[zero] * tensors, least[zero] + kRounds[zero] * messages);
    }
    out.tensor.bytes = products.sums * (products.accumulator + kResult);
    out.tensor.rounds = kRoundsOfSum * products.count;
    out.stages.bytes = 2.0 * narrowest_cut(program);
    out.stages.rounds = 2.0;
}

}  // namespace

StepProfile profile_of(const program::Program& program, double planned_elements) {
    StepProfile out;
    out.work = static_cast<double>(dispute::work_of(program.step));
    out.batch_rows = program.batch_size;
    const std::vector<bool> is_parameter = plan::parameters_of(program);
    double parameter_count = 0.0;
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        const canonical::TensorType& type = program.state[i].type;
        const auto elements = static_cast<double>(type.shape.element_count());
        (is_parameter[i] ? out.parameter_bytes : out.slot_bytes) += elements * canonical::size_of(type.dtype);
        parameter_count += is_parameter[i] ? elements : 0.0;
    }
    out.gradient_bytes = parameter_count * 4.0;
    if (const auto turns = plan::find_turns(program)) {
        out.turn_replicas = turns->replicas;
        out.turn_work = static_cast<double>(dispute::work_of(plan::turn_graph(program, *turns, 0, std::nullopt).graph));
    }
    std::vector<bool> is_counted(program.loss_node + std::size_t{1});
    for (std::size_t i = is_counted.size(); i < program.step.size(); ++i) {
        for (const Input& input : program.step[i].inputs) {
            if (input.source == Source::kNode && input.index < is_counted.size() && !is_counted[input.index]) {
                is_counted[input.index] = true;
                out.activation_bytes += bytes_of(program.step[input.index]);
            }
        }
    }
    out.is_planned = elements_of(program.step) <= planned_elements;
    if (!out.is_planned) {
        set_formulas(out, program, parameter_count);
        return out;
    }
    for (std::size_t zero = 0; zero < out.data.size(); ++zero) {
        out.data[zero] = planned(program, {.data = 2, .zero = static_cast<plan::Zero>(zero)});
    }
    out.tensor = planned(program, {.tensor = 2});
    out.stages = planned(program, {.stages = 2});
    return out;
}

double memory_of(const StepProfile& profile, const plan::Layout& layout, double rows) {
    const auto divided = [&](double bytes, plan::Zero from) {
        return layout.zero >= from ? bytes / layout.data : bytes;
    };
    const double state = divided(profile.parameter_bytes, plan::Zero::kParameters) +
                         divided(profile.slot_bytes, plan::Zero::kOptimizer) +
                         divided(profile.gradient_bytes, plan::Zero::kGradients);
    const double activations = profile.activation_bytes * rows / profile.batch_rows;
    return (state + activations) / (layout.stages * layout.tensor);
}

}  // namespace assay::schedule
