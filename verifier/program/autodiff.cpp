// SPDX-License-Identifier: Apache-2.0
#include <verifier/program/autodiff.hpp>

#include <algorithm>

#include <core/base/assert.hpp>

namespace assay::program {

Value Tape::record(Layer layer, const Value& output, std::vector<Value> inputs, std::vector<Value> saved) {
    records_.push_back(Record{layer, output, std::move(inputs), std::move(saved)});
    return output;
}

Value Tape::embed(const Value& table, const Value& index) {
    return record(Layer::kEmbed, graph_.gather_rows(table, index), {table, index});
}

Value Tape::matmul_nt(const Value& a, const Value& b) {
    return record(Layer::kMatmul, graph_.matmul_nt(a, b), {a, b});
}

Value Tape::add_row(const Value& x, const Value& row) {
    return record(Layer::kAddRow, graph_.add(x, row), {x, row});
}

Value Tape::relu(const Value& x) { return record(Layer::kRelu, graph_.relu(x), {x}); }

Value Tape::mean_cross_entropy(const Value& logits, const Value& target) {
    const Value one_hot = graph_.one_hot(target, logits.shape.cols);
    const Value shifted = graph_.sub(logits, graph_.row_max(logits));
    const Value powers = graph_.exp(shifted);
    const Value total = graph_.row_sum(powers);
    const Value chosen = graph_.row_sum(graph_.mul(shifted, one_hot));
    const Value loss = graph_.mean(graph_.sub(graph_.log(total), chosen));
    return record(Layer::kCrossEntropy, loss, {logits, target}, {powers, total, one_hot});
}

const Value* Tape::gradient_of(const Value& value) const {
    const auto found =
        std::find_if(gradients_.begin(), gradients_.end(), [&](const auto& entry) { return entry.first == value; });
    return found == gradients_.end() ? nullptr : &found->second;
}

void Tape::accumulate(const Value& value, const Value& gradient) {
    for (auto& [known, sum] : gradients_) {
        if (known == value) {
            sum = graph_.add(sum, gradient);
            return;
        }
    }
    gradients_.emplace_back(value, gradient);
}

// c = a b^T: da = dc b, db = dc^T a; both written as products with a transposed right side.
void Tape::back_matmul(const Record& record, const Value& gradient) {
    const Value& a = record.inputs[0];
    const Value& b = record.inputs[1];
    accumulate(a, graph_.matmul_nt(gradient, graph_.transpose(b)));
    accumulate(b, graph_.matmul_nt(graph_.transpose(gradient), graph_.transpose(a)));
}

void Tape::back(const Record& record, const Value& gradient) {
    switch (record.layer) {
        case Layer::kEmbed:
            accumulate(record.inputs[0], graph_.scatter_sum(gradient, record.inputs[1], record.inputs[0].shape));
            return;
        case Layer::kMatmul:
            back_matmul(record, gradient);
            return;
        case Layer::kAddRow:
            accumulate(record.inputs[0], gradient);
            accumulate(record.inputs[1], graph_.col_sum(gradient));
            return;
        case Layer::kRelu:
            accumulate(record.inputs[0], graph_.relu_grad(record.inputs[0], gradient));
            return;
        case Layer::kCrossEntropy:
            break;
    }
    ASSERT(false);  // a loss is where gradients() starts, never on the way
}

std::vector<Value> Tape::gradients(const Value& loss, std::span<const Value> parameters) {
    ASSERT(!records_.empty() && records_.back().layer == Layer::kCrossEntropy && records_.back().output == loss);
    const Record& entropy = records_.back();
    const Value& logits = entropy.inputs[0];
    const Value softmax = graph_.div(entropy.saved[0], entropy.saved[1]);
    const Value excess = graph_.sub(softmax, entropy.saved[2]);
    gradients_.clear();
    accumulate(logits, graph_.scale(excess, 1.0F / static_cast<float>(logits.shape.rows)));
    for (auto it = records_.rbegin() + 1; it != records_.rend(); ++it) {
        if (const Value* gradient = gradient_of(it->output); gradient != nullptr) {
            back(*it, Value{*gradient});  // a copy: gradients_ grows meanwhile
        }
    }
    std::vector<Value> out;
    out.reserve(parameters.size());
    for (const Value& parameter : parameters) {
        const Value* gradient = gradient_of(parameter);
        ASSERT(gradient != nullptr);
        out.push_back(*gradient);
    }
    return out;
}

}  // namespace assay::program
