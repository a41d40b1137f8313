// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/replicas.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>

namespace assay::program {

using canonical::Shape;

namespace {

/// The blocks of a tensor, as a matrix with one block in each row.
struct Blocks {
    std::uint32_t elements = 0;  ///< of the tensor
    Shape shape;                 ///< [blocks, elements of a block]

    std::uint32_t places() const { return static_cast<std::uint32_t>(shape.element_count()); }
};

Blocks blocks_of(Shape tensor, std::uint32_t block) {
    ASSERT(tensor.element_count() <= kMaxCompressed);
    const auto elements = static_cast<std::uint32_t>(tensor.element_count());
    const std::uint32_t size = std::min(block, elements);
    return {elements, Shape{div_ceil(elements, size), size}};
}

/// The optimizer of tensors that are exchanged whole. DGC has clipped and decayed each replica's gradients already.
OptimizerConfig config_of_whole(const OptimizerConfig& config) {
    OptimizerConfig out = config;
    if (config.replicas.exchange == ExchangeKind::kDgc) {
        out.weight_decay = 0.0F;
        out.clip_norm = 0.0F;
    }
    out.replicas = {};
    return out;
}

}  // namespace

Value in_shape(GraphBuilder& graph, const Value& x, Shape shape) {
    canonical::View view;
    view.dims = {shape.rows, shape.cols};
    view.axes.push_back(
        {.size = static_cast<std::uint32_t>(x.shape.element_count()),
         .offset = 0,
         .divisor = 1,
         .strides = {static_cast<std::int32_t>(shape.cols), 1}}
    );
    return graph.view(x, std::move(view), shape);
}

Selection append_selection(GraphBuilder& graph, const Value& x, std::uint32_t block) {
    const Blocks blocks = blocks_of(x.shape, block);
    const Value rows = in_shape(graph, x, blocks.shape);
    Selection out;
    out.indices = graph.row_arg_max(graph.abs(rows));
    const Value chosen = graph.one_hot(out.indices, blocks.shape.cols);
    // At most one element of a row is not zero, so one of these two is its magnitude and the other is zero: nothing is
    // rounded.
    const Value alone = graph.mul(rows, chosen);
    const Value above = graph.relu(graph.row_max(alone));
    const Value below = graph.relu(graph.row_max(graph.scale(alone, -1.0F)));
    out.values = graph.sub(above, below);
    out.mask = in_shape(graph, chosen, x.shape);
    return out;
}

Value append_sum_of_sent(GraphBuilder& graph, std::span<const Selection> sent, std::uint32_t block, Shape shape) {
    const Blocks blocks = blocks_of(shape, block);
    Value sum;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const Value spread = graph.mul(graph.one_hot(sent[i].indices, blocks.shape.cols), sent[i].values);
        sum = i == 0 ? spread : graph.add(sum, spread);
    }
    return in_shape(graph, sum, shape);
}

bool is_compressed(const Replicas& replicas, Shape shape) {
    const std::uint64_t elements = shape.element_count();
    return replicas.exchange == ExchangeKind::kDgc && elements >= replicas.dense_below && elements <= kMaxCompressed;
}

Traffic traffic_of(const Replicas& replicas, const std::vector<StateTensor>& parameters) {
    constexpr std::uint64_t kWord = 32;
    Traffic out;
    for (const StateTensor& parameter : parameters) {
        const std::uint64_t whole = kWord * parameter.type.shape.element_count();
        out.dense += whole;
        if (!is_compressed(replicas, parameter.type.shape)) {
            out.packed += whole;
            out.written += whole;
            continue;
        }
        const Shape blocks = blocks_of(parameter.type.shape, replicas.block).shape;
        out.packed += blocks.rows * (kWord + static_cast<std::uint64_t>(std::bit_width(blocks.cols - 1)));
        out.written += blocks.rows * (kWord + kWord);
    }
    return out;
}

std::vector<Slot> dgc_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters) {
    std::vector<StateTensor> whole;
    std::vector<StateTensor> compressed;
    for (const StateTensor& parameter : parameters) {
        (is_compressed(config.replicas, parameter.type.shape) ? compressed : whole).push_back(parameter);
    }
    std::vector<Slot> slots = optimizer_slots(config_of_whole(config), whole);
    const auto append = [&](const std::string& prefix) {
        for (const StateTensor& parameter : compressed) {
            slots.push_back(Slot{StateTensor{prefix + parameter.name, parameter.type}, 0.0F});
        }
    };
    for (std::uint32_t i = 0; i < config.replicas.count; ++i) {
        const std::string owner = "replica." + std::to_string(i) + ".";
        if (config.kind == OptimizerKind::kSgdMomentum) {
            append("momentum." + owner);
        }
        append("accumulated." + owner);
    }
    return slots;
}

ReplicaUpdate::ReplicaUpdate(
    GraphBuilder& graph, const OptimizerConfig& config, const std::vector<Value>& parameters, std::vector<Value> slots
)
    : graph_(graph), config_(config), slots_(std::move(slots)) {
    ASSERT(check_optimizer(config).has_value());
    for (const Value& parameter : parameters) {
        const bool compressed = is_compressed(config.replicas, parameter.shape);
        whole_ += compressed ? 0 : 1;
        tensors_.push_back(Tensor{parameter, compressed, {}, {}});
    }
    const OptimizerConfig of_whole = config_of_whole(config);
    whole_slots_ = whole_ * slots_per_parameter(of_whole) + slots_besides(of_whole);
    const std::size_t own = (tensors_.size() - whole_) * (has_momentum() ? 2 : 1) * config.replicas.count;
    ASSERT(slots_.size() == whole_slots_ + own);
}

// A replica's limit is that of the sum over L replicas times L^(-1/2): norms of independent gradients add like that.
void ReplicaUpdate::prepare(std::vector<Value>& gradients) {
    if (config_.clip_norm > 0.0F) {
        const float limit = config_.clip_norm / std::sqrt(static_cast<float>(config_.replicas.count));
        append_clipping(graph_, limit, gradients);
    }
    if (config_.weight_decay > 0.0F) {
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            const Value& parameter = tensors_[i].parameter;
            if (decays_by_default(parameter.shape)) {
                gradients[i] = graph_.add(gradients[i], graph_.scale(parameter, config_.weight_decay));
            }
        }
    }
}

void ReplicaUpdate::compress(const std::vector<Value>& gradients) {
    const std::size_t count = tensors_.size() - whole_;
    std::size_t slot = whole_slots_ + next_slots_.size();
    std::vector<Value> momenta;
    std::vector<Value> accumulated;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
        Tensor& tensor = tensors_[i];
        if (!tensor.is_compressed) {
            continue;
        }
        const Value momentum =
            has_momentum() ? graph_.add(graph_.scale(slots_[slot], config_.momentum), gradients[i]) : gradients[i];
        const Value sum = graph_.add(slots_[slot + (has_momentum() ? count : 0)], momentum);
        const Selection sent = append_selection(graph_, sum, config_.replicas.block);
        const Value zeros = graph_.fill(sum.shape, 0.0F);
        if (has_momentum()) {
            momenta.push_back(graph_.select(zeros, sent.mask, momentum));
        }
        accumulated.push_back(graph_.select(zeros, sent.mask, sum));
        tensor.sent.push_back(sent);
        ++slot;
    }
    next_slots_.insert(next_slots_.end(), momenta.begin(), momenta.end());
    next_slots_.insert(next_slots_.end(), accumulated.begin(), accumulated.end());
}

void ReplicaUpdate::add(std::vector<Value> gradients) {
    ASSERT(gradients.size() == tensors_.size() && added_ < config_.replicas.count);
    if (config_.replicas.exchange == ExchangeKind::kDgc) {
        prepare(gradients);
        compress(gradients);
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
        if (!tensors_[i].is_compressed) {
            tensors_[i].sum = added_ == 0 ? gradients[i] : graph_.add(tensors_[i].sum, gradients[i]);
        }
    }
    ++added_;
}

std::vector<Value> ReplicaUpdate::update_whole() {
    OptimizerInputs inputs;
    for (const Tensor& tensor : tensors_) {
        if (!tensor.is_compressed) {
            inputs.parameters.push_back(tensor.parameter);
            inputs.gradients.push_back(
                added_ == 1 ? tensor.sum : graph_.scale(tensor.sum, 1.0F / static_cast<float>(added_))
            );
        }
    }
    inputs.slots.assign(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(whole_slots_));
    return append_optimizer(graph_, config_of_whole(config_), inputs);
}

std::vector<Value> ReplicaUpdate::finish() {
    ASSERT(added_ == config_.replicas.count);
    const std::vector<Value> of_whole = update_whole();
    std::vector<Value> next;
    std::size_t place = 0;
    for (const Tensor& tensor : tensors_) {
        if (!tensor.is_compressed) {
            next.push_back(of_whole[place++]);
            continue;
        }
        const Value sum = append_sum_of_sent(graph_, tensor.sent, config_.replicas.block, tensor.parameter.shape);
        const Value mean = added_ == 1 ? sum : graph_.scale(sum, 1.0F / static_cast<float>(added_));
        const Value rate = append_learning_rate(graph_, config_);
        next.push_back(graph_.sub(tensor.parameter, graph_.mul(mean, rate)));
    }
    next.insert(next.end(), of_whole.begin() + static_cast<std::ptrdiff_t>(whole_), of_whole.end());
    next.insert(next.end(), next_slots_.begin(), next_slots_.end());
    return next;
}

}  // namespace assay::program
