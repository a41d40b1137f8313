// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>

namespace assay::onnx {
namespace {

using program::Tape;

// Scores [N, C, d...] as rows of classes, and what each row's target is.
struct LossesProblem {
    Rows rows;
    Dims dims;                    ///< of the targets
    Value target;                 ///< i32 [B,1]
    std::optional<Value> weight;  ///< f32 [B,1]: of each row's class, 0 where the target is to be ignored
};

LossesProblem problem_of(Call& call) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    const Operand& scores = call.in(0);
    const Operand& target = call.in(1);
    require_real(scores);
    call.require_kind(1, Kind::kInteger, "target");
    if (scores->dims.size() < 2 || scores->is_empty()) {
        refuse_invalid("scores of dimensions " + to_text(scores->dims));
    }
    LossesProblem out;
    out.rows = rows_along(lowering, scores, one_axis(1));
    out.dims = out.rows.kept;
    if (target->dims != out.dims) {
        refuse_invalid("targets of dimensions " + to_text(target->dims) + " for scores of " + to_text(scores->dims));
    }
    const canonical::Shape column{out.rows.shape.rows, 1};
    const Array targets = lowering.array(target);
    out.target = lowering.view_as(lowering.index(targets), column);
    if (call.has(2)) {
        if (call.in(2)->dims != Dims{out.rows.shape.cols}) {
            refuse_invalid("weights of dimensions " + to_text(call.in(2)->dims));
        }
        lowering.mark_buffer(call.in(2));
        const Value hot = graph.one_hot(out.target, out.rows.shape.cols);
        out.weight = graph.row_sum(graph.mul(hot, lowering.real(call.array(2))));
    }
    if (call.has_attribute("ignore_index")) {
        const std::int64_t ignored = call.integer("ignore_index");
        if (ignored < -(std::int64_t{1} << 24U) || ignored > (std::int64_t{1} << 24U)) {
            refuse_unsupported("ignore_index " + std::to_string(ignored) + " is not supported");
        }
        const Value number = lowering.scalar(static_cast<float>(ignored));
        const Value counts = negated(lowering, graph.equal(lowering.view_as(lowering.real(targets), column), number));
        out.weight = out.weight ? graph.mul(counts, *out.weight) : counts;
    }
    return out;
}

// Losses [B,1] before weights, into the node's reduction.
Operand reduced(Call& call, const LossesProblem& problem, Value losses) {
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    if (problem.weight) {
        // Picked and not multiplied where the weight is 0: a row to be ignored may hold anything.
        losses = tape.select(tape.mul(losses, *problem.weight), *problem.weight, lowering.scalar(0.0F));
    }
    const ElementType type = call.in(0)->type;
    const std::string reduction = call.text("reduction", "mean");
    if (reduction == "none") {
        return lowering.add_array(lowering.from_matrix(losses, type, problem.dims));
    }
    if (reduction != "sum" && reduction != "mean") {
        call.unsupported_attribute("reduction", "'" + reduction + "'");
    }
    Value total = tape.sum(losses);
    if (reduction == "mean") {
        total = problem.weight ? tape.div(total, call.graph().sum(*problem.weight))
                               : tape.scale(total, 1.0F / static_cast<float>(losses.shape.rows));
    }
    return lowering.add_array({type, {}, total, false});
}

Outputs lower_cross_entropy(Call& call) {
    const LossesProblem problem = problem_of(call);
    Tape& tape = call.tape();
    Operand loss;
    if (!problem.weight && call.text("reduction", "mean") == "mean") {
        loss = call.lowering().add_array(
            {call.in(0)->type, {}, tape.mean_cross_entropy(problem.rows.value, problem.target), false}
        );
    } else {
        loss = reduced(call, problem, tape.cross_entropy(problem.rows.value, problem.target));
    }
    if (!call.wants_output(1)) {
        return {loss};
    }
    return {loss, from_rows(call.lowering(), call.in(0), problem.rows, tape.log_softmax(problem.rows.value))};
}

Outputs lower_negative_log_likelihood(Call& call) {
    const LossesProblem problem = problem_of(call);
    Tape& tape = call.tape();
    const Value hot = call.graph().one_hot(problem.target, problem.rows.shape.cols);
    const Value chosen = tape.select(problem.rows.value, hot, call.lowering().scalar(0.0F));
    return {reduced(call, problem, tape.scale(tape.row_sum(chosen), -1.0F))};
}

}  // namespace

std::vector<Operator> loss_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"SoftmaxCrossEntropyLoss", 12, kExact, {"ignore_index", "reduction"}, lower_cross_entropy},
        {"NegativeLogLikelihoodLoss", 12, kExact, {"ignore_index", "reduction"}, lower_negative_log_likelihood},
    };
}

}  // namespace assay::onnx
