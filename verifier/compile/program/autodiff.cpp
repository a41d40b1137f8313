// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/autodiff.hpp>

#include <algorithm>

#include <core/base/assert.hpp>

namespace assay::program {

using canonical::Shape;
using canonical::Source;

Value Tape::record(const Value& output, Rule rule) {
    if (recorded_.insert(key_of(output)).second) {
        records_.push_back(Record{output, std::move(rule)});
    }
    return output;
}

bool Tape::wants(const Value& value) const {
    return parameters_.contains(key_of(value)) ||
           (value.source == Source::kNode && value.index < depends_.size() && depends_[value.index]);
}

Value Tape::expand(const Value& x, Shape shape) {
    return graph_.view(x, expand_view({x.shape.rows, x.shape.cols}, {shape.rows, shape.cols}), shape);
}

Value Tape::add_gradients(const Value& a, const Value& b, Shape shape) {
    const auto covers = [](const Value& x, const Value& y) {
        return x.shape.rows >= y.shape.rows && x.shape.cols >= y.shape.cols;
    };
    if (covers(a, b)) {
        return graph_.add(a, b);
    }
    return covers(b, a) ? graph_.add(b, a) : graph_.add(expand(a, shape), b);
}

void Tape::accumulate(const Value& value, const Value& gradient) {
    if (!wants(value)) {
        return;
    }
    const auto [it, is_first] = gradients_.try_emplace(key_of(value), gradient);
    if (!is_first) {
        it->second = add_gradients(it->second, gradient, value.shape);
    }
}

void Tape::accumulate_broadcast(const Value& value, const Value& gradient) {
    if (wants(value)) {
        accumulate(value, graph_.sum_to(gradient, value.shape));
    }
}

void Tape::find_dependents(std::span<const Value> parameters) {
    parameters_.clear();
    for (const Value& parameter : parameters) {
        parameters_.insert(key_of(parameter));
    }
    const canonical::Graph& nodes = graph_.nodes();
    depends_.assign(nodes.size(), false);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const std::vector<Value>& inputs = nodes[i].inputs;
        depends_[i] = std::any_of(inputs.begin(), inputs.end(), [&](const Value& input) { return wants(input); }) ||
                      parameters_.contains({Source::kNode, i});
    }
}

std::vector<Value> Tape::gradients(const Value& loss, std::span<const Value> parameters) {
    ASSERT((loss.shape == Shape{1, 1}));
    find_dependents(parameters);
    gradients_.clear();
    accumulate(loss, graph_.fill(Shape{1, 1}, 1.0F));
    for (std::size_t i = records_.size(); i-- > 0;) {
        const Record& record = records_[i];
        const auto found = gradients_.find(key_of(record.output));
        if (found != gradients_.end()) {
            const Value gradient = found->second;  // a copy: gradients_ grows meanwhile
            record.rule(
                *this, gradient.shape == record.output.shape ? gradient : expand(gradient, record.output.shape)
            );
        }
    }
    std::vector<Value> out;
    out.reserve(parameters.size());
    for (const Value& parameter : parameters) {
        const auto found = gradients_.find(key_of(parameter));
        out.push_back(
            found == gradients_.end() ? graph_.fill(parameter.shape, 0.0F) : expand(found->second, parameter.shape)
        );
    }
    return out;
}

}  // namespace assay::program
