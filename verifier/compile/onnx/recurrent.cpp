// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

using canonical::Shape;
using program::Tape;

constexpr std::uint32_t kMaxSteps = 1024;

// A recurrent layer, unrolled: one copy of the cell for each step.
struct Layer {
    std::uint32_t steps = 0;
    std::uint32_t batch = 0;
    std::uint32_t width = 0;  ///< of the input
    std::uint32_t hidden = 0;
    std::uint32_t gates = 0;  ///< matrices in one
    std::uint32_t directions = 1;
    bool batch_first = false;  ///< attribute layout
};

// What one direction works with.
struct Weights {
    Value input;      ///< [gates * hidden, width]
    Value recurrent;  ///< [gates * hidden, hidden]
    Value input_bias;
    Value recurrent_bias;  ///< both [1, gates * hidden]
    Value peepholes;       ///< [1, 3 * hidden]; LSTM
    bool is_reversed = false;
};

struct Cell {
    Value hidden;  ///< [batch, hidden]
    Value memory;  ///< LSTM
};

// The next state from what the input contributes to the gates, [batch, gates * hidden].
using Step = std::function<Cell(const Weights&, const Value& input, const Cell& before)>;

Layer layer_of(const Call& call, std::uint32_t gates) {
    const Dims& x = call.in(0)->dims;
    const Dims& w = call.in(1)->dims;
    const Dims& r = call.in(2)->dims;
    if (x.size() != 3 || w.size() != 3 || r.size() != 3 || call.in(0)->is_empty() || call.in(1)->is_empty()) {
        refuse_invalid("an input of " + to_text(x) + " and weights of " + to_text(w) + " and " + to_text(r));
    }
    Layer out;
    out.batch_first = call.integer("layout", 0) != 0;
    out.steps = x[out.batch_first ? 1 : 0];
    out.batch = x[out.batch_first ? 0 : 1];
    out.width = x[2];
    out.gates = gates;
    out.hidden = r[2];
    const std::string direction = call.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
        call.unsupported_attribute("direction", "'" + direction + "'");
    }
    out.directions = direction == "bidirectional" ? 2 : 1;
    if (out.steps > kMaxSteps) {
        refuse_too_large("a sequence of " + std::to_string(out.steps) + " steps");
    }
    const std::uint64_t rows = std::uint64_t{gates} * out.hidden;
    if (w != Dims{out.directions, static_cast<std::uint32_t>(rows), out.width} ||
        r != Dims{out.directions, static_cast<std::uint32_t>(rows), out.hidden} ||
        call.integer("hidden_size", out.hidden) != std::int64_t{out.hidden}) {
        refuse_invalid("weights of dimensions " + to_text(w) + " and " + to_text(r) + " for an input of " + to_text(x));
    }
    return out;
}

// Sequences of different lengths are not unrolled.
void require_full_sequences(const Call& call, const Layer& layer) {
    if (!call.has(4)) {
        return;
    }
    const std::vector<std::int64_t> lengths = call.known_integers(4, "sequence_lens");
    if (std::any_of(lengths.begin(), lengths.end(), [&](std::int64_t n) { return n != std::int64_t{layer.steps}; })) {
        refuse_unsupported("sequences of different lengths");
    }
}

void require_activations(const Call& call, const Layer& layer, const std::vector<std::string>& defaults) {
    const Attribute* given = call.attribute("activations", AttributeKind::kStrings);
    for (std::size_t i = 0; given != nullptr && i < given->texts.size(); ++i) {
        if (given->texts.size() != layer.directions * defaults.size() ||
            given->texts[i] != defaults[i % defaults.size()]) {
            call.unsupported_attribute("activations", "'" + given->texts[i] + "'");
        }
    }
}

// The part of input `i` that belongs to a direction, as a matrix; zeros when it is left out.
Value direction_part(Call& call, std::size_t i, const Layer& layer, std::uint32_t direction, Shape shape) {
    Lowering& lowering = call.lowering();
    if (!call.has(i)) {
        return call.graph().fill(shape, 0.0F);
    }
    const Operand& x = call.in(i);
    const bool is_state = i == 5 || i == 6;
    const std::uint32_t axis = is_state && layer.batch_first ? 1 : 0;
    if (x->dims.size() <= axis || x->dims[axis] != layer.directions ||
        checked_elements(x->dims) != layer.directions * shape.element_count()) {
        refuse_invalid("input " + std::to_string(i) + " has dimensions " + to_text(x->dims));
    }
    const Operand part = lowering.slice(x, axis, direction, 1);
    return lowering.view_as(lowering.real(lowering.array(part)), shape);
}

// Blocks of rows, one for each step, halved again and again: on the way back each half is added up on its own.
std::vector<Value> split_steps(Lowering& lowering, const Value& all, const Layer& layer) {
    struct Part {
        Value value;
        std::uint32_t steps;
    };
    std::vector<Part> parts{{all, layer.steps}};
    const auto is_whole = [](const Part& part) { return part.steps > 1; };
    while (std::any_of(parts.begin(), parts.end(), is_whole)) {
        std::vector<Part> halves;
        for (const Part& part : parts) {
            if (part.steps == 1) {
                halves.push_back(part);
                continue;
            }
            const std::uint32_t first = part.steps / 2;
            for (const auto& [from, count] : {std::pair{0U, first}, std::pair{first, part.steps - first}}) {
                const Dims dims{part.steps, layer.batch, part.value.shape.cols};
                const Shape shape{count * layer.batch, part.value.shape.cols};
                halves.push_back({lowering.view(part.value, program::slice_view(dims, 0, from, count), shape), count});
            }
        }
        parts = std::move(halves);
    }
    std::vector<Value> out;
    out.reserve(parts.size());
    for (const Part& part : parts) {
        out.push_back(part.value);
    }
    return out;
}

// Columns `gate` * hidden .. of a matrix of gates.
Value gate_of(Lowering& lowering, const Value& x, std::uint32_t gate, std::uint32_t hidden) {
    const Dims dims{x.shape.rows, x.shape.cols};
    return lowering.view(x, program::slice_view(dims, 1, std::int64_t{gate} * hidden, hidden), {x.shape.rows, hidden});
}

struct Unrolled {
    std::vector<Value> outputs;  ///< hidden states in the order of the input's steps
    Cell last;
};

Unrolled unroll(Call& call, const Layer& layer, std::uint32_t direction, const Value& input, const Step& step) {
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    const std::uint32_t rows = layer.gates * layer.hidden;
    const Shape state{layer.batch, layer.hidden};
    Weights weights;
    weights.is_reversed = direction == 1 || call.text("direction", "forward") == "reverse";
    weights.input = direction_part(call, 1, layer, direction, {rows, layer.width});
    weights.recurrent = direction_part(call, 2, layer, direction, {rows, layer.hidden});
    const Value biases = direction_part(call, 3, layer, direction, {2, rows});
    weights.input_bias = lowering.view(biases, program::slice_view({2, rows}, 0, 0, 1), {1, rows});
    weights.recurrent_bias = lowering.view(biases, program::slice_view({2, rows}, 0, 1, 1), {1, rows});
    if (layer.gates == 4) {
        weights.peepholes = direction_part(call, 7, layer, direction, {1, 3 * layer.hidden});
    }
    const Value projected = tape.linear(input, weights.input, weights.input_bias);
    const std::vector<Value> inputs = split_steps(lowering, projected, layer);
    Cell cell{direction_part(call, 5, layer, direction, state), {}};
    if (layer.gates == 4) {
        cell.memory = direction_part(call, 6, layer, direction, state);
    }
    Unrolled out;
    out.outputs.resize(layer.steps);
    for (std::uint32_t i = 0; i < layer.steps; ++i) {
        const std::uint32_t at = weights.is_reversed ? layer.steps - 1 - i : i;
        cell = step(weights, inputs[at], cell);
        out.outputs[at] = cell.hidden;
    }
    out.last = cell;
    return out;
}

// [D, B, H], or [B, D, H] with the batch first.
Operand last_states(Call& call, const Layer& layer, const std::vector<Value>& states) {
    Lowering& lowering = call.lowering();
    std::vector<Operand> parts;
    for (const Value& state : states) {
        const Dims dims = layer.batch_first ? Dims{layer.batch, 1, layer.hidden} : Dims{1, layer.batch, layer.hidden};
        parts.push_back(lowering.add_array(lowering.from_matrix(state, call.in(0)->type, dims)));
    }
    return lowering.concat(parts, layer.batch_first ? 1 : 0);
}

Outputs recurrent(Call& call, const Layer& layer, const Step& step) {
    Lowering& lowering = call.lowering();
    require_real(call.in(0));
    for (std::size_t i = 1; i < call.input_count(); ++i) {
        if (call.has(i) && i != 4) {
            call.require_same_type(0, i);
        }
    }
    require_full_sequences(call, layer);
    const std::vector<std::uint32_t> swap{1, 0, 2};
    const Operand in_steps = layer.batch_first ? lowering.permute(call.in(0), swap) : call.in(0);
    checked_shape(std::uint64_t{layer.steps} * layer.batch, std::uint64_t{layer.gates} * layer.hidden);
    const Value input = lowering.view_as(
        lowering.real(lowering.array(in_steps)), checked_shape(std::uint64_t{layer.steps} * layer.batch, layer.width)
    );
    std::vector<Operand> sequences;
    std::vector<Value> hidden;
    std::vector<Value> memory;
    for (std::uint32_t direction = 0; direction < layer.directions; ++direction) {
        const Unrolled unrolled = unroll(call, layer, direction, input, step);
        std::vector<Operand> parts;
        for (const Value& output : unrolled.outputs) {
            const Dims dims{1, 1, layer.batch, layer.hidden};
            parts.push_back(lowering.add_array(lowering.from_matrix(output, call.in(0)->type, dims)));
        }
        sequences.push_back(call.wants_output(0) ? lowering.concat(parts, 0) : nullptr);
        hidden.push_back(unrolled.last.hidden);
        memory.push_back(unrolled.last.memory);
    }
    Operand sequence;
    if (call.wants_output(0)) {
        const std::vector<std::uint32_t> batch_first{2, 0, 1, 3};
        sequence = lowering.concat(sequences, 1);
        sequence = layer.batch_first ? lowering.permute(sequence, batch_first) : sequence;
    }
    Outputs out{sequence, call.wants_output(1) ? last_states(call, layer, hidden) : nullptr};
    if (layer.gates == 4) {
        out.push_back(call.wants_output(2) ? last_states(call, layer, memory) : nullptr);
    }
    return out;
}

Value recurrent_part(Call& call, const Weights& weights, const Value& hidden) {
    return call.tape().linear(hidden, weights.recurrent, weights.recurrent_bias);
}

Outputs lower_rnn(Call& call) {
    const Layer layer = layer_of(call, 1);
    const Attribute* activations = call.attribute("activations", AttributeKind::kStrings);
    const bool is_relu = activations != nullptr && !activations->texts.empty() && activations->texts[0] == "Relu";
    require_activations(call, layer, {is_relu ? "Relu" : "Tanh"});
    return recurrent(call, layer, [&](const Weights& weights, const Value& input, const Cell& before) {
        const Value sum = call.tape().add(input, recurrent_part(call, weights, before.hidden));
        return Cell{is_relu ? call.tape().relu(sum) : call.tape().tanh(sum), {}};
    });
}

// Gates: update, reset, hidden.
Outputs lower_gru(Call& call) {
    const Layer layer = layer_of(call, 3);
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    require_activations(call, layer, {"Sigmoid", "Tanh"});
    const bool resets_product = call.integer("linear_before_reset", 0) != 0;
    const std::uint32_t h = layer.hidden;
    return recurrent(
        call, layer,
        [&, resets_product, h](const Weights& weights, const Value& input, const Cell& before) {
            const Value product = recurrent_part(call, weights, before.hidden);
            const auto gate = [&](std::uint32_t i) {
                return tape.sigmoid(tape.add(gate_of(lowering, input, i, h), gate_of(lowering, product, i, h)));
            };
            const Value update = gate(0);
            const Value reset = gate(1);
            Value inner;
            if (resets_product) {
                inner = tape.mul(gate_of(lowering, product, 2, h), reset);
            } else {
                const Dims dims{3 * h, h};
                const Value matrix =
                    lowering.view(weights.recurrent, program::slice_view(dims, 0, 2 * std::int64_t{h}, h), {h, h});
                inner = tape.linear(
                    tape.mul(before.hidden, reset), matrix, gate_of(lowering, weights.recurrent_bias, 2, h)
                );
            }
            const Value fresh = tape.tanh(tape.add(gate_of(lowering, input, 2, h), inner));
            // (1 - z) * fresh + z * before
            return Cell{tape.add(fresh, tape.mul(tape.sub(before.hidden, fresh), update)), {}};
        }
    );
}

// Gates: input, output, forget, cell.
Outputs lower_lstm(Call& call) {
    const Layer layer = layer_of(call, 4);
    Lowering& lowering = call.lowering();
    Tape& tape = call.tape();
    require_activations(call, layer, {"Sigmoid", "Tanh", "Tanh"});
    if (call.integer("input_forget", 0) != 0) {
        call.unsupported_attribute("input_forget", "1");
    }
    const bool has_peepholes = call.has(7);
    const std::uint32_t h = layer.hidden;
    return recurrent(
        call, layer,
        [&, has_peepholes, h](const Weights& weights, const Value& input, const Cell& before) {
            const Value sum = tape.add(input, recurrent_part(call, weights, before.hidden));
            const auto peeped = [&](std::uint32_t gate, std::uint32_t peephole, const Value& memory) {
                const Value x = gate_of(lowering, sum, gate, h);
                return has_peepholes ? tape.add(x, tape.mul(memory, gate_of(lowering, weights.peepholes, peephole, h)))
                                     : x;
            };
            const Value in = tape.sigmoid(peeped(0, 0, before.memory));
            const Value forget = tape.sigmoid(peeped(2, 2, before.memory));
            const Value fresh = tape.tanh(gate_of(lowering, sum, 3, h));
            const Value memory = tape.add(tape.mul(forget, before.memory), tape.mul(in, fresh));
            const Value out = tape.sigmoid(peeped(1, 1, memory));
            return Cell{tape.mul(out, tape.tanh(memory)), memory};
        }
    );
}

}  // namespace

std::vector<Operator> recurrent_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"RNN", 7, kExact, {"activations", "direction", "hidden_size", "layout"}, lower_rnn},
        {"GRU", 7, kExact, {"activations", "direction", "hidden_size", "layout", "linear_before_reset"}, lower_gru},
        {"LSTM", 7, kExact, {"activations", "direction", "hidden_size", "input_forget", "layout"}, lower_lstm},
    };
}

}  // namespace assay::onnx
