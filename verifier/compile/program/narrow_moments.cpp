// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/narrow_moments.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/replicas.hpp>

namespace assay::program {

using canonical::DType;
using canonical::Input;
using canonical::Node;
using canonical::Shape;
using canonical::Source;

namespace {

constexpr std::string_view kFirst = "adam.first.";
constexpr std::string_view kSecond = "adam.second.";
constexpr std::string_view kMomentum = "momentum.";
constexpr std::string_view kExponent = "exponent.";

constexpr std::uint32_t kMomentPrecision = 7;  // quantised numbers of at most 127
/// The exponents for which both 2^(7-e) and 2^(e-7) are normal numbers; an i8 ends at 127 itself.
constexpr float kLowestExponent = -119.0F;
constexpr float kExponentBias = 127.0F;
constexpr float kFractionBits = 0x1p23F;
/// Just so far below 1/2 that a whole number of at most 127 plus a dither is rounded to itself.
constexpr float kInt8Dither = 0.4999F;
/// The largest value of a block is at most 127 times the unit, so that no dither is cut off: a block whose values grow
/// slowly would never grow beyond that.
constexpr float kHeadroom = 128.0F / 127.0F;
/// Decay rates up to this one change a moment by far more than half a step of bf16.
constexpr float kNearestDecay = 0.9F;
/// The model's own random numbers count from 0.
constexpr std::uint32_t kFirstDitherId = 0x4d000000;

std::string_view prefix_of(std::string_view name) {
    for (const std::string_view prefix : {kFirst, kSecond, kMomentum}) {
        if (name.starts_with(prefix)) {
            return prefix;
        }
    }
    return {};
}

/// What a moment becomes.
struct Stored {
    std::uint32_t index = 0;  ///< in the state
    Shape shape;              ///< of the moment
    bool is_square = false;   ///< the average of squares, of which int8 has the root
    bool is_nearest = false;  ///< bf16: rounded without a dither
    bool is_int8 = false;
    std::uint32_t exponent = 0;  ///< kInt8: place of the exponents in the state

    Shape blocks() const {
        return {static_cast<std::uint32_t>(div_ceil(shape.element_count(), std::uint64_t{kMomentBlock})), kMomentBlock};
    }
    Shape column() const { return {blocks().rows, 1}; }
};

/// The scale of each block: what its values are multiplied by, so that the largest is between 63.5 and 127, or
/// the reverse.
Value scale_of(GraphBuilder& graph, const Value& exponent, bool is_reverse) {
    const Value lowest = graph.fill(Shape{1, 1}, kLowestExponent);
    const Value e = graph.max(graph.to_float(exponent), lowest);
    const Value power =
        graph.add_const(is_reverse ? e : graph.scale(e, -1.0F), kExponentBias + (is_reverse ? -7.0F : 7.0F));
    return graph.from_bits(graph.to_int(graph.scale(power, kFractionBits)));
}

Value widened(GraphBuilder& graph, const Stored& moment) {
    if (!moment.is_int8) {
        return graph.widen(GraphBuilder::state(moment.index, {DType::kBf16, moment.shape}));
    }
    const Value q = graph.widen(GraphBuilder::state(moment.index, {DType::kI8, moment.blocks()}));
    const Value exponent = graph.widen(GraphBuilder::state(moment.exponent, {DType::kI8, moment.column()}));
    const Value x = graph.mul(graph.to_float(q), scale_of(graph, exponent, true));
    return in_shape(graph, moment.is_square ? graph.mul(x, x) : x, moment.shape);
}

struct Narrowed {
    Value values;
    std::optional<Value> exponent{};
};

Narrowed narrowed(GraphBuilder& graph, const Stored& moment, const Value& x, bool has_dither) {
    const std::uint32_t id = kFirstDitherId + moment.index;
    if (!moment.is_int8) {
        const bool is_nearest = moment.is_nearest || !has_dither;
        return {is_nearest ? graph.narrow(x) : graph.narrow(x, graph.uniform(moment.shape, 0.5F, id))};
    }
    const Value rows = in_shape(graph, moment.is_square ? graph.sqrt(x) : x, moment.blocks());
    const Value exponent = graph.narrow(graph.row_exponent(graph.scale(rows, kHeadroom), kMomentBlock));
    const Value scaled = graph.mul(rows, scale_of(graph, graph.widen(exponent), false));
    Value rounded = has_dither ? graph.add(scaled, graph.uniform(moment.blocks(), kInt8Dither, id)) : scaled;
    if (moment.is_square) {  // what is not 0 stays so: it is divided by
        rounded = graph.max(rounded, graph.less(graph.fill(scaled.shape, 0.0F), scaled));
    }
    const Value seven = graph.to_int(graph.fill(Shape{1, 1}, static_cast<float>(kMomentPrecision)));
    return {graph.narrow(graph.quantise(rounded, seven, kMomentPrecision, 0)), exponent};
}

class MomentsWriter {
  public:
    MomentsWriter(const Program& program, const OptimizerConfig& config)
        : base_(program), config_(config), out_(program) {}

    Result<Program, MomentsError> write() {
        TRY(declare());
        if (out_.state.size() > canonical::kMaxStateTensors) {
            return Unexpected{MomentsError::kLimits};
        }
        GraphBuilder init;
        const std::vector<Value> first = rewritten(init, base_.init, true);
        out_.init = std::move(init).commit(first);
        GraphBuilder step;
        const std::vector<Value> next = rewritten(step, base_.step, false);
        Value loss = loss_;
        out_.step = std::move(step).commit(next, loss);
        out_.loss_node = loss.index;
        if (std::max(out_.init.size(), out_.step.size()) > canonical::kMaxNodes) {
            return Unexpected{MomentsError::kLimits};
        }
        return std::move(out_);
    }

  private:
    Result<void, MomentsError> declare();
    /// Copies the graph's nodes, and narrows what it commits to. An initialisation reads no moments.
    std::vector<Value> rewritten(GraphBuilder& graph, const canonical::Graph& from, bool is_init);

    const Program& base_;
    const OptimizerConfig& config_;
    Program out_;
    std::vector<std::optional<Stored>> stored_;  // of each tensor of the base's state
    Value loss_;
};

Result<void, MomentsError> MomentsWriter::declare() {
    std::set<std::string> names;
    for (const StateTensor& tensor : base_.state) {
        names.insert(tensor.name);
    }
    stored_.resize(base_.state.size());
    bool is_any = false;
    for (std::uint32_t i = 0; i < base_.state.size(); ++i) {
        const StateTensor& tensor = base_.state[i];
        const std::uint64_t elements = tensor.type.shape.element_count();
        const bool is_int8 = config_.moments == Moments::kInt8;
        if (!is_moment(tensor, base_.state) ||
            (is_int8 && (elements < kMinInt8Elements || elements > kMaxCompressed))) {
            continue;
        }
        is_any = true;
        const std::string_view prefix = prefix_of(tensor.name);
        const float decay = prefix == kMomentum ? config_.momentum : config_.beta1;
        Stored moment{.index = i, .shape = tensor.type.shape, .is_square = prefix == kSecond, .is_int8 = is_int8};
        moment.is_nearest = !moment.is_square && decay <= kNearestDecay;
        out_.state[i].type = {is_int8 ? DType::kI8 : DType::kBf16, is_int8 ? moment.blocks() : moment.shape};
        if (is_int8) {
            moment.exponent = static_cast<std::uint32_t>(out_.state.size());
            std::string name = std::string(prefix) + std::string(kExponent) + tensor.name.substr(prefix.size());
            if (!names.insert(name).second) {
                return Unexpected{MomentsError::kNames};
            }
            out_.state.push_back({std::move(name), {DType::kI8, moment.column()}});
        }
        stored_[i] = moment;
    }
    return is_any ? Result<void, MomentsError>{} : Unexpected{MomentsError::kNone};
}

std::vector<Value> MomentsWriter::rewritten(GraphBuilder& graph, const canonical::Graph& from, bool is_init) {
    std::vector<Value> place(from.size() - 1);
    const auto read = [&](const Input& input) {
        if (input.source == Source::kNode) {
            return place[input.index];
        }
        return is_init || !stored_[input.index] ? input : widened(graph, *stored_[input.index]);
    };
    for (std::size_t i = 0; i + 1 < from.size(); ++i) {
        Node node = from[i];
        for (Input& input : node.inputs) {
            input = read(input);
        }
        place[i] = graph.append(std::move(node));
    }
    std::vector<Value> next(out_.state.size());
    for (std::size_t i = 0; i < base_.state.size(); ++i) {
        const Input& input = from.back().inputs[i];
        if (!stored_[i]) {
            next[i] = read(input);
            continue;
        }
        if (!is_init && input.source == Source::kState && input.index == i) {  // passed on as it is
            next[i] = GraphBuilder::state(stored_[i]->index, out_.state[i].type);
            if (stored_[i]->is_int8) {
                next[stored_[i]->exponent] =
                    GraphBuilder::state(stored_[i]->exponent, out_.state[stored_[i]->exponent].type);
            }
            continue;
        }
        const Narrowed moment = narrowed(graph, *stored_[i], read(input), !is_init);
        next[i] = moment.values;
        if (moment.exponent) {
            next[stored_[i]->exponent] = *moment.exponent;
        }
    }
    if (!is_init) {
        loss_ = place[base_.loss_node];
    }
    return next;
}

}  // namespace

bool is_moment(const StateTensor& tensor, const std::vector<StateTensor>& state) {
    const std::string_view prefix = prefix_of(tensor.name);
    const std::string_view of = std::string_view(tensor.name).substr(prefix.size());
    return !prefix.empty() && tensor.type.dtype == DType::kF32 &&
           std::any_of(state.begin(), state.end(), [&](const StateTensor& other) { return other.name == of; });
}

Result<Program, MomentsError> with_narrow_moments(const Program& program, const OptimizerConfig& config) {
    ASSERT(config.moments != Moments::kF32);
    return MomentsWriter(program, config).write();
}

}  // namespace assay::program
