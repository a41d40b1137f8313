// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/model_builder.hpp>

#include <cmath>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/replicas.hpp>

namespace assay::program {

using canonical::DType;
using canonical::Shape;
using canonical::TensorType;

namespace {

constexpr float kRunningShare = 0.1F;  // of the newest batch in the running values

}  // namespace

Start Start::spread(float deviation) { return uniform(deviation * std::sqrt(3.0F)); }
Start Start::fan_in(std::uint32_t fan_in) { return uniform(1.0F / std::sqrt(static_cast<float>(fan_in))); }

Value ModelBuilder::declare(std::string name, Shape shape, const Start& start, bool is_parameter) {
    const auto index = static_cast<std::uint32_t>(entries_.size());
    const TensorType type{DType::kF32, shape};
    const auto [place, is_new] = places_.emplace(name, index);
    if (!is_new) {
        const Entry& entry = entries_[place->second];
        ASSERT(replica_ > 0 && entry.tensor.type == type && entry.is_parameter == is_parameter);
        return GraphBuilder::state(place->second, type);
    }
    const Value value = GraphBuilder::state(index, type);
    entries_.push_back(Entry{StateTensor{std::move(name), type}, start, new_tensor_id(), value, is_parameter});
    return value;
}

Value ModelBuilder::parameter(std::string name, Shape shape, const Start& start) {
    return declare(std::move(name), shape, start, true);
}

Value ModelBuilder::buffer(std::string name, Shape shape, const Start& start) {
    return declare(std::move(name), shape, start, false);
}

void ModelBuilder::set_next(const Value& buffer, const Value& next) {
    ASSERT(buffer.source == canonical::Source::kState && buffer.index < entries_.size() && buffer.shape == next.shape);
    Entry& entry = entries_[buffer.index];
    ASSERT(!entry.is_parameter);
    if (replica_ == 0) {
        entry.next = next;
    }
}

void ModelBuilder::follow(const Value& running, const Value& batch, float correction) {
    const Value kept = graph_.scale(running, 1.0F - kRunningShare);
    set_next(running, graph_.add(kept, graph_.scale(batch, kRunningShare * correction)));
}

Value ModelBuilder::batch_norm(const std::string& name, const Value& x) {
    const Shape shape{1, x.shape.cols};
    const Value gain = parameter(name + ".weight", shape, Start::constant(1.0F));
    const Value bias = parameter(name + ".bias", shape, Start::zeros());
    const Value mean = buffer(name + ".running_mean", shape, Start::zeros());
    const Value variance = buffer(name + ".running_var", shape, Start::constant(1.0F));
    const Tape::Normalised normalised = tape_.batch_norm(x, gain, bias, kNormEpsilon);
    const auto count = static_cast<float>(x.shape.rows);
    follow(mean, normalised.mean, 1.0F);
    follow(variance, normalised.variance, x.shape.rows > 1 ? count / (count - 1.0F) : 1.0F);
    return normalised.output;
}

void ModelBuilder::write_init(Program& program) const {
    GraphBuilder graph;
    std::vector<Value> state;
    for (const Entry& entry : entries_) {
        const Shape shape = entry.tensor.type.shape;
        switch (entry.start.kind) {
            case Start::Kind::kConstant:
                state.push_back(graph.fill(shape, entry.start.value));
                break;
            case Start::Kind::kUniform:
                state.push_back(graph.uniform(shape, entry.start.value, entry.tensor_id));
                break;
            case Start::Kind::kGiven:
                state.push_back(
                    GraphBuilder::state(static_cast<std::uint32_t>(program.initial.size()), entry.tensor.type)
                );
                program.initial.push_back(entry.tensor);
                break;
        }
    }
    program.init = std::move(graph).commit(state);
}

std::vector<Value> ModelBuilder::parameters() const {
    std::vector<Value> out;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].is_parameter) {
            out.push_back(GraphBuilder::state(i, entries_[i].tensor.type));
        }
    }
    return out;
}

std::vector<StateTensor> ModelBuilder::parameter_tensors() const {
    std::vector<StateTensor> out;
    for (const Entry& entry : entries_) {
        if (entry.is_parameter) {
            out.push_back(entry.tensor);
        }
    }
    return out;
}

std::vector<Value> ModelBuilder::declare_slots(const OptimizerConfig& optimizer) {
    std::vector<Value> out;
    for (Slot& slot : optimizer_slots(optimizer, parameter_tensors())) {
        out.push_back(declare(std::move(slot.tensor.name), slot.tensor.type.shape, Start::constant(slot.initial), false)
        );
    }
    return out;
}

Program ModelBuilder::finish(const Value& loss, const OptimizerConfig& optimizer, const Data& data) {
    ASSERT(optimizer.replicas.count == 1);
    return finish([&loss](const Value&) { return loss; }, optimizer, data);
}

Program ModelBuilder::finish(const Forward& forward, const OptimizerConfig& optimizer, const Data& data) {
    const std::uint32_t count = optimizer.replicas.count;
    ASSERT(count >= 1 && data.batch_size % count == 0);
    const std::uint32_t rows = data.batch_size / count;
    const Value batch = graph_.batch_rows(Shape{data.batch_size, data.dataset.width});
    const auto loss_of = [&](std::uint32_t replica) {
        const std::int64_t first = std::int64_t{replica} * rows;
        const canonical::View own = slice_view({data.batch_size, data.dataset.width}, 0, first, rows);
        return forward(graph_.view(batch, own, Shape{rows, data.dataset.width}));
    };
    Value loss = loss_of(0);
    const std::vector<Value> trained = parameters();
    std::vector<Value> before = declare_slots(optimizer);
    ReplicaUpdate update(graph_, optimizer, trained, before);
    update.add(tape_.gradients(loss, trained));
    for (replica_ = 1; replica_ < count; ++replica_) {
        const Value own = loss_of(replica_);
        update.add(tape_.gradients(own, trained));
        loss = graph_.add(loss, own);
    }
    if (count > 1) {
        loss = graph_.scale(loss, 1.0F / static_cast<float>(count));
    }
    before.insert(before.begin(), trained.begin(), trained.end());
    const std::vector<Value> updated = update.finish();
    for (std::size_t i = 0; i < updated.size(); ++i) {
        entries_[before[i].index].next = updated[i];
    }
    Program program;
    std::vector<Value> next;
    for (const Entry& entry : entries_) {
        program.state.push_back(entry.tensor);
        next.push_back(entry.next);
    }
    write_init(program);
    program.step = std::move(graph_).commit(next, loss);
    program.loss_node = loss.index;
    program.batch_size = data.batch_size;
    program.dataset = data.dataset;
    return program;
}

}  // namespace assay::program
