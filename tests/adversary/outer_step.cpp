// SPDX-License-Identifier: Apache-2.0
#include <tests/adversary/outer_step.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <verifier/compile/program/distance.hpp>

namespace assay::adversary {
namespace {

using canonical::Graph;
using canonical::Op;
using canonical::Source;

constexpr std::string_view kMomentum = "momentum.outer.";
constexpr std::string_view kSent = "accumulated.sent.0.";
constexpr std::string_view kShared = "accumulated.shared.";

std::optional<std::uint32_t> operand(const Graph& graph, std::uint32_t node, std::size_t number) {
    const auto& inputs = graph[node].inputs;
    return number < inputs.size() && inputs[number].source == Source::kNode ? std::optional(inputs[number].index)
                                                                            : std::nullopt;
}

/// What a selection makes the next value of a tensor, at the end of a turn.
std::optional<std::uint32_t> chosen(const program::Program& program, const std::string& name) {
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        const auto& next = program.step.back().inputs[i];
        if (program.state[i].name == name && next.source == Source::kNode &&
            program.step[next.index].op == Op::kSelect) {
            return operand(program.step, next.index, 0);
        }
    }
    return std::nullopt;
}

struct OuterStep {
    std::uint32_t made = 0;                  // the momentum, or what the parameter moves by
    std::optional<std::uint32_t> changed{};  // the mean of the changes that it is made of
};

std::vector<OuterStep> find_outer_steps(const program::Program& program) {
    const Graph& graph = program.step;
    std::vector<OuterStep> out;
    for (const program::StateTensor& tensor : program.state) {
        if (!tensor.name.starts_with(kSent)) {
            continue;
        }
        const std::string name = tensor.name.substr(kSent.size());
        if (const auto momentum = chosen(program, std::string(kMomentum) + name)) {
            out.push_back({*momentum, operand(graph, *momentum, 1)});
            continue;
        }
        auto moved = chosen(program, std::string(kShared) + name);
        moved = moved ? moved : chosen(program, name);
        if (const auto by = moved ? operand(graph, *moved, 1) : std::nullopt) {
            out.push_back({*by, operand(graph, *by, 0)});
        }
    }
    return out;
}

}  // namespace

std::vector<std::uint32_t> outer_steps(const program::Program& program) {
    std::vector<std::uint32_t> out;
    for (const OuterStep& step : find_outer_steps(program)) {
        out.push_back(step.made);
    }
    return out;
}

std::vector<std::uint32_t> first_sums(const program::Program& program) {
    const Graph& graph = program.step;
    std::vector<std::uint32_t> out;
    for (const OuterStep& step : find_outer_steps(program)) {
        // The mean is made of the sum, perhaps in another shape; the first sum is the innermost addition.
        auto node = step.changed ? operand(graph, *step.changed, 0) : std::nullopt;
        while (node && graph[*node].op != Op::kAdd) {
            node = operand(graph, *node, 0);
        }
        auto inner = node ? operand(graph, *node, 0) : std::nullopt;
        while (inner && graph[*inner].op == Op::kAdd) {
            node = inner;
            inner = operand(graph, *node, 0);
        }
        if (node && operand(graph, *node, 1)) {
            out.push_back(*node);
        }
    }
    return out;
}

}  // namespace assay::adversary
