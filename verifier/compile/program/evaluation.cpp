// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/evaluation.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/graph_builder.hpp>

namespace assay::program {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using canonical::Tensor;

namespace {

// What follows the last batch: scaling, two bounds with their constants, commit.
constexpr std::size_t kLastNodes = 6;

// EVL-2
std::uint32_t holdout_place(std::size_t tensors) {
    return 1U << static_cast<std::uint32_t>(std::bit_width(tensors - 1));
}

// The nodes of the step that its loss needs, in order.
std::vector<std::uint32_t> nodes_of_loss(const Program& program) {
    std::vector<bool> needed(program.loss_node + std::size_t{1}, false);
    needed[program.loss_node] = true;
    for (std::uint32_t i = program.loss_node + 1; i-- > 0;) {
        for (const Value& input : program.step[i].inputs) {
            if (needed[i] && input.source == Source::kNode) {
                needed[input.index] = true;
            }
        }
    }
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < needed.size(); ++i) {
        if (needed[i]) {
            nodes.push_back(i);
        }
    }
    return nodes;
}

// The order in which nodes are appended is a part of the protocol (EVL-7), and C++ leaves the order open in which the
// arguments of a call are computed. So no two arguments of one call append nodes.
class Evaluating {
  public:
    Evaluating(const Program& program, std::uint32_t rows)
        : program_(program),
          nodes_(nodes_of_loss(program)),
          holdout_(GraphBuilder::state(
              holdout_place(program.state.size()), {DType::kI32, Shape{rows, program.dataset.width}}
          )) {}

    Result<canonical::Graph, EvaluationFailure> write() {
        const std::uint32_t batches = holdout_.shape.rows / program_.batch_size;
        std::optional<Value> sum;
        for (std::uint32_t batch = 0; batch < batches; ++batch) {
            const Value loss = add_batch(batch * program_.batch_size);
            sum = sum ? graph_.add(*sum, loss) : loss;
            if (graph_.nodes().size() + kLastNodes > canonical::kMaxNodes) {
                const std::uint64_t fit = std::uint64_t{batch} * program_.batch_size;
                return Unexpected{EvaluationFailure{EvaluationError::kTooLarge, fit}};
            }
        }
        const Value mean = graph_.scale(sum.value(), 1.0F / static_cast<float>(batches));
        // An evaluation never diverges (EVL-3): what is not a number is the largest loss.
        const Value least = constant(-std::numeric_limits<float>::max());
        const Value most = constant(std::numeric_limits<float>::max());
        const std::array<Value, 1> score{graph_.max(graph_.min(mean, most), least)};
        return std::move(graph_).commit(score);
    }

  private:
    Value constant(float value) { return graph_.fill(Shape{1, 1}, value); }

    /// The loss on the batch of rows from `first` on. What does not depend on the batch is there only once.
    Value add_batch(std::uint32_t first) {
        std::vector<Value> made(nodes_.back() + std::size_t{1});
        for (const std::uint32_t index : nodes_) {
            made[index] = add(program_.step[index], made, first);
        }
        return made[program_.loss_node];
    }

    Value add(Node node, const std::vector<Value>& made, std::uint32_t first) {
        if (node.op == Op::kBatchRows) {
            const Shape all = holdout_.shape;
            return graph_.view(holdout_, slice_view({all.rows, all.cols}, 0, first, node.shape.rows), node.shape);
        }
        if (node.op == Op::kBernoulli) {
            return graph_.fill(node.shape, static_cast<float>(node.attributes[0] * 0x1p-32));
        }
        for (Value& input : node.inputs) {
            if (input.source == Source::kNode) {
                input = made[input.index];
            }
        }
        return graph_.append(std::move(node));
    }

    const Program& program_;
    const std::vector<std::uint32_t> nodes_;
    const Value holdout_;
    GraphBuilder graph_;
};

// As many as fit one tensor, or fewer where the graph does not hold their batches.
std::uint64_t most_rows(const Program& program) {
    const std::uint32_t most = canonical::kMaxDimension / program.batch_size * program.batch_size;
    if (most == 0) {
        return 0;
    }
    const auto graph = Evaluating(program, most).write();
    return graph ? most : graph.error().rows_fit;
}

std::optional<EvaluationFailure> find_failure(const Program& program, std::uint64_t rows) {
    if (program.state.size() > canonical::kMaxStateTensors) {
        return EvaluationFailure{EvaluationError::kTensors};
    }
    if (rows == 0 || rows % program.batch_size != 0) {
        return EvaluationFailure{EvaluationError::kRows};
    }
    const std::vector<std::uint32_t> nodes = nodes_of_loss(program);
    const bool depends = std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t index) {
        const Op op = program.step[index].op;
        return op == Op::kStepCount || op == Op::kUniform;
    });
    if (depends) {
        return EvaluationFailure{EvaluationError::kLoss};
    }
    if (rows > canonical::kMaxDimension) {
        return EvaluationFailure{EvaluationError::kTooLarge, most_rows(program)};
    }
    return std::nullopt;
}

std::vector<StateTensor> initial_tensors(const Program& program, std::uint32_t rows) {
    std::vector<StateTensor> initial;
    for (const StateTensor& tensor : program.state) {
        initial.push_back({"state." + tensor.name, tensor.type});
    }
    while (initial.size() < holdout_place(program.state.size())) {
        initial.push_back({"gap." + std::to_string(initial.size()), {DType::kF32, Shape{1, 1}}});
    }
    initial.push_back({"holdout", {DType::kI32, Shape{rows, program.dataset.width}}});
    return initial;
}

}  // namespace

Result<Program, EvaluationFailure> make_evaluation(const Program& program, std::uint64_t rows) {
    // EVL-7, EVL-8
    if (const auto failure = find_failure(program, rows)) {
        return Unexpected{*failure};
    }
    const auto count = static_cast<std::uint32_t>(rows);
    TRY_ASSIGN(canonical::Graph graph, Evaluating(program, count).write());
    Program evaluation =
        make_function({"score", {DType::kF32, Shape{1, 1}}}, initial_tensors(program, count), std::move(graph));
    ASSERT(check_program(evaluation).has_value());
    return evaluation;
}

std::vector<Tensor> evaluated_state(std::span<const Tensor> state, const Tensor& holdout) {
    ASSERT(!state.empty() && state.size() <= canonical::kMaxStateTensors);
    std::vector<Tensor> out(state.begin(), state.end());
    out.resize(holdout_place(state.size()));
    out.push_back(holdout);
    return out;
}

}  // namespace assay::program
