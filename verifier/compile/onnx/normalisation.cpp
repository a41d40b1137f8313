// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>

namespace assay::onnx {
namespace {

using program::Tape;

// Softmax and its kin work along one axis; before opset 13, along all axes from one on.
std::vector<std::uint32_t> softmax_axes(const Call& call) {
    const std::size_t rank = call.rank(0);
    if (call.opset() >= 13) {
        return one_axis(call.axis_of(call.integer("axis", -1), rank));
    }
    return axes_between(call.axis_of(call.integer("axis", 1), rank), rank);
}

template <Value (Tape::*kMethod)(const Value&)>
Outputs lower_softmax(Call& call) {
    const Operand& x = call.in(0);
    require_real(x);
    const Rows rows = rows_along(call.lowering(), x, softmax_axes(call));
    return {from_rows(call.lowering(), x, rows, (call.tape().*kMethod)(rows.value))};
}

Outputs lower_hardmax(Call& call) {
    const Operand& x = call.in(0);
    require_real(x);
    const Rows rows = rows_along(call.lowering(), x, softmax_axes(call));
    program::GraphBuilder& graph = call.graph();
    return {from_rows(call.lowering(), x, rows, graph.one_hot(graph.row_arg_max(rows.value), rows.shape.cols))};
}

struct Moments {
    Value mean;       ///< [M,1]
    Value centred;    ///< [M,N]
    Value deviation;  ///< [M,1]: the root of variance + epsilon
};

Moments moments_of(Tape& tape, const Value& rows, float epsilon) {
    const Value mean = tape.row_mean(rows);
    const Value centred = tape.sub(rows, mean);
    const Value variance = tape.row_mean(tape.mul(centred, centred));
    return {mean, centred, tape.sqrt(tape.add_const(variance, epsilon))};
}

Outputs lower_layer_normalization(Call& call) {
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    const Operand& x = call.in(0);
    require_real(x);
    const std::uint32_t axis = call.axis_of(call.integer("axis", -1), x->dims.size());
    const Dims normal(x->dims.begin() + axis, x->dims.end());
    const float epsilon = call.real("epsilon", 1e-5F);
    if (call.integer("stash_type", 1) != 1) {
        call.unsupported_attribute("stash_type", std::to_string(call.integer("stash_type", 1)));
    }
    const Rows rows = rows_along(lowering, x, axes_between(axis, x->dims.size()));
    const bool is_plain = call.in(1)->dims == normal && (!call.has(2) || call.in(2)->dims == normal);
    Operand y;
    if (is_plain) {
        const canonical::Shape row{1, rows.shape.cols};
        const Value gain = lowering.view_as(lowering.real(call.array(1)), row);
        const Value bias =
            call.has(2) ? lowering.view_as(lowering.real(call.array(2)), row) : call.graph().fill(row, 0.0F);
        const Value value = tape.layer_norm(rows.value, gain, bias, epsilon);
        y = lowering.add_array(lowering.from_matrix(value, x->type, x->dims));
    } else {
        const Moments moments = moments_of(tape, rows.value, epsilon);
        y = lowering.add_array(lowering.from_matrix(tape.div(moments.centred, moments.deviation), x->type, x->dims));
        y = arithmetic(lowering, Arithmetic::kMul, y, call.in(1));
        y = call.has(2) ? arithmetic(lowering, Arithmetic::kAdd, y, call.in(2)) : y;
    }
    if (!call.wants_output(1) && !call.wants_output(2)) {
        return {y};
    }
    Dims dims = x->dims;
    std::fill(dims.begin() + axis, dims.end(), 1U);
    const Moments moments = moments_of(tape, rows.value, epsilon);
    const Value inverse = tape.div(call.graph().fill(moments.deviation.shape, 1.0F), moments.deviation);
    return {
        y, lowering.add_array(lowering.from_matrix(moments.mean, x->type, dims)),
        lowering.add_array(lowering.from_matrix(inverse, x->type, dims))};
}

// A vector of one number for each channel, as [1,C].
Value channel_row(Call& call, std::size_t i, std::uint32_t channels) {
    if (call.in(i)->dims != Dims{channels}) {
        refuse_invalid("input " + std::to_string(i) + " is not a vector of " + std::to_string(channels) + " numbers");
    }
    return call.lowering().real(call.array(i));
}

Outputs trained_batch_norm(Call& call, const Array& x, std::uint32_t channels) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    const float momentum = call.real("momentum", 0.9F);
    const Value gain = channel_row(call, 1, channels);
    const Value bias = channel_row(call, 2, channels);
    const Tape::Normalised found = call.tape().batch_norm(lowering.real(x), gain, bias, call.real("epsilon", 1e-5F));
    Outputs out{lowering.add_array({x.type, x.dims, found.output, x.channels_last})};
    for (const std::size_t i : {std::size_t{3}, std::size_t{4}}) {
        const Value before = channel_row(call, i, channels);
        const Value now = i == 3 ? found.mean : found.variance;
        const Value next = graph.add(graph.scale(before, momentum), graph.scale(now, 1.0F - momentum));
        if (StateEntry* entry = lowering.state_of(call.in(i))) {
            entry->is_buffer = true;
            entry->next = next;
        }
        out.push_back(lowering.add_array({x.type, {channels}, next, false}));
    }
    return out;
}

Outputs lower_batch_normalization(Call& call) {
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    require_real(call.in(0));
    if (call.rank(0) < 2 || call.in(0)->is_empty()) {
        refuse_invalid("an input of dimensions " + to_text(call.in(0)->dims));
    }
    if (call.integer("spatial", 1) != 1) {
        call.unsupported_attribute("spatial", "0");
    }
    const Array x = lowering.channels_last(call.array_any(0));
    const std::uint32_t channels = x.dims[1];
    if (call.integer("training_mode", 0) != 0) {
        return trained_batch_norm(call, x, channels);
    }
    lowering.mark_buffer(call.in(3));
    lowering.mark_buffer(call.in(4));
    const Value variance = channel_row(call, 4, channels);
    const Value deviation = tape.sqrt(tape.add_const(variance, call.real("epsilon", 1e-5F)));
    const Value factor = tape.div(channel_row(call, 1, channels), deviation);
    const Value centred = tape.sub(lowering.real(x), channel_row(call, 3, channels));
    const Value value = tape.add(tape.mul(centred, factor), channel_row(call, 2, channels));
    return {lowering.add_array({x.type, x.dims, value, x.channels_last})};
}

Outputs lower_instance_normalization(Call& call) {
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    const Operand& x = call.in(0);
    require_real(x);
    if (x->dims.size() < 3 || call.in(1)->dims != Dims{x->dims[1]} || call.in(2)->dims != Dims{x->dims[1]}) {
        refuse_invalid("an input of dimensions " + to_text(x->dims));
    }
    const Rows rows = rows_along(lowering, x, axes_between(2, x->dims.size()));
    const Moments moments = moments_of(tape, rows.value, call.real("epsilon", 1e-5F));
    const Value value = tape.div(moments.centred, moments.deviation);
    Operand y = lowering.add_array(lowering.from_matrix(value, x->type, x->dims));
    Dims along(x->dims.size() - 1, 1);
    along[0] = x->dims[1];
    y = arithmetic(lowering, Arithmetic::kMul, y, lowering.reshape(call.in(1), along));
    return {arithmetic(lowering, Arithmetic::kAdd, y, lowering.reshape(call.in(2), along))};
}

Outputs lower_mean_variance_normalization(Call& call) {
    Tape& tape = call.tape();
    const Operand& x = call.in(0);
    require_real(x);
    std::vector<std::uint32_t> axes;
    const std::vector<std::int64_t> given = call.integers("axes");
    for (const std::int64_t axis : given.empty() ? std::vector<std::int64_t>{0, 2, 3} : given) {
        axes.push_back(call.axis_of(axis, x->dims.size()));
    }
    const Rows rows = rows_along(call.lowering(), x, axes);
    const Moments moments = moments_of(tape, rows.value, 0.0F);
    const Value value = tape.div(moments.centred, tape.add_const(moments.deviation, 1e-9F));
    return {from_rows(call.lowering(), x, rows, value)};
}

Outputs lower_lp_normalization(Call& call) {
    Tape& tape = call.tape();
    const Operand& x = call.in(0);
    require_real(x);
    const std::int64_t p = call.integer("p", 2);
    if (p != 1 && p != 2) {
        call.unsupported_attribute("p", std::to_string(p));
    }
    const Rows rows = rows_along(call.lowering(), x, one_axis(call.axis_of(call.integer("axis", -1), x->dims.size())));
    const Value norm =
        p == 1 ? tape.row_sum(tape.abs(rows.value)) : tape.sqrt(tape.row_sum(tape.mul(rows.value, rows.value)));
    return {from_rows(call.lowering(), x, rows, tape.div(rows.value, norm))};
}

// x / (bias + alpha / size * sum of squares of neighbouring channels)^beta
Outputs lower_lrn(Call& call) {
    Tape& tape = call.tape();
    const Operand& x = call.in(0);
    require_real(x);
    const std::int64_t size = call.integer("size");
    if (x->dims.size() < 3 || size < 1 || size > 0x10000) {
        refuse_invalid("size " + std::to_string(size) + " for an input of dimensions " + to_text(x->dims));
    }
    const Rows rows = rows_along(call.lowering(), x, one_axis(1));
    program::Windows windows;
    windows.kernel = {static_cast<std::uint32_t>(size)};
    windows.pad_before = {static_cast<std::int32_t>((size - 1) / 2)};
    windows.pad_after = {static_cast<std::int32_t>(size - 1 - (size - 1) / 2)};
    const Dims dims{rows.shape.rows, rows.shape.cols, 1};
    const canonical::Shape wide = checked_shape(rows.shape.element_count(), windows.kernel[0]);
    const Value squares =
        call.lowering().view(tape.mul(rows.value, rows.value), program::windows_view(dims, windows), wide);
    const Value sums = call.lowering().view_as(tape.row_sum(squares), rows.shape);
    const float factor = call.real("alpha", 1e-4F) / static_cast<float>(size);
    const Value base = tape.add_const(tape.scale(sums, factor), call.real("bias", 1.0F));
    const Value power = tape.exp(tape.scale(tape.log(base), -call.real("beta", 0.75F)));
    return {from_rows(call.lowering(), x, rows, tape.mul(rows.value, power))};
}

// Ratio and mode are attributes of the graph's maker: known at import. Without training mode it changes nothing.
Outputs lower_dropout(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    require_real(x);
    const double ratio = call.has(1) ? call.known_real(1, "ratio") : static_cast<double>(call.real("ratio", 0.5F));
    const bool trains = call.has(2) && call.known_integer(2, "training_mode") != 0;
    if (!(ratio >= 0.0 && ratio < 1.0)) {
        refuse_invalid("ratio " + std::to_string(ratio) + " is not in [0, 1)");
    }
    if (!trains || ratio == 0.0) {
        // Before opset 10 the mask has the input's type.
        const ElementType type = call.opset() < 10 ? x->type : ElementType::kBool;
        const Constant ones = x->is_empty() ? Constant{type, x->dims, {}, {}} : make_uniform(type, x->dims, 1.0);
        return {x, lowering.add_constant(ones)};
    }
    if (lowering.mode() == Mode::kForward) {
        refuse_unsupported("dropout in training mode draws random numbers, which inference does not");
    }
    const std::uint32_t id = lowering.next_tensor_id();
    lowering.note(
        "node '" + call.node().name + "' (Dropout) draws its mask from the task's seed as random tensor " +
        std::to_string(id)
    );
    return {lowering.add_array(lowering.map(lowering.array_any(x), [&](const Value& v) {
        return call.tape().dropout(v, static_cast<float>(ratio), id);
    }))};
}

}  // namespace

std::vector<Operator> normalisation_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"Softmax", 1, kExact, {"axis"}, lower_softmax<&Tape::softmax>},
        {"LogSoftmax", 1, kExact, {"axis"}, lower_softmax<&Tape::log_softmax>},
        {"Hardmax", 1, Derivative::kZero, {"axis"}, lower_hardmax},
        {"LayerNormalization", 17, kExact, {"axis", "epsilon", "stash_type"}, lower_layer_normalization},
        {"BatchNormalization",
         7,
         kExact,
         {"epsilon", "momentum", "spatial", "training_mode"},
         lower_batch_normalization},
        {"InstanceNormalization", 6, kExact, {"epsilon"}, lower_instance_normalization},
        {"MeanVarianceNormalization", 9, kExact, {"axes"}, lower_mean_variance_normalization},
        {"LpNormalization", 1, kExact, {"axis", "p"}, lower_lp_normalization},
        {"LRN", 1, kExact, {"alpha", "beta", "bias", "size"}, lower_lrn},
        {"Dropout", 7, kExact, {"ratio", "seed"}, lower_dropout},
    };
}

}  // namespace assay::onnx
