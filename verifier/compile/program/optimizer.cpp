// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/optimizer.hpp>

#include <algorithm>
#include <cmath>

#include <core/base/assert.hpp>
#include <verifier/compile/program/replicas.hpp>

namespace assay::program {
namespace {

constexpr canonical::Shape kOptimizerScalar{1, 1};
constexpr float kPi = 3.14159265F;
constexpr float kNormFloor = 1e-6F;
constexpr std::uint32_t kMaxAccumulation = 1U << 20U;

bool is_adam(OptimizerKind kind) { return kind == OptimizerKind::kAdam || kind == OptimizerKind::kAdamW; }

bool has_momentum(const OptimizerConfig& config) {
    return config.kind == OptimizerKind::kSgdMomentum || config.kind == OptimizerKind::kNesterov ||
           (config.kind == OptimizerKind::kRmsprop && config.momentum > 0.0F);
}

Value number(GraphBuilder& graph, float value) { return graph.fill(kOptimizerScalar, value); }

Value one_minus(GraphBuilder& graph, const Value& x) { return graph.add_const(graph.scale(x, -1.0F), 1.0F); }

// decay * average + (1 - decay) * sample
Value moving_average(GraphBuilder& graph, const Value& average, const Value& sample, float decay) {
    return graph.add(graph.scale(average, decay), graph.scale(sample, 1.0F - decay));
}

// The factor at `update`: that of the first segment that it lies before the end of, or the last point's.
Value between_points(GraphBuilder& graph, const Schedule& schedule, const Value& update) {
    const std::vector<SchedulePoint>& points = schedule.points;
    Value factor = number(graph, points.back().factor);
    for (std::size_t i = points.size() - 1; i-- > 0;) {
        const SchedulePoint& from = points[i];
        const SchedulePoint& to = points[i + 1];
        const Value since = graph.add_const(update, -from.update);
        Value share = graph.max(graph.scale(since, 1.0F / (to.update - from.update)), number(graph, 0.0F));
        if (schedule.is_curved) {
            share = graph.scale(one_minus(graph, graph.cos(graph.scale(share, kPi))), 0.5F);
        }
        const Value left = graph.scale(one_minus(graph, share), from.factor);
        const Value here = graph.max(graph.add(left, graph.scale(share, to.factor)), number(graph, 0.0F));
        factor = graph.select(here, graph.less(update, number(graph, to.update)), factor);
    }
    return factor;
}

bool are_points(const std::vector<SchedulePoint>& points) {
    const auto is_good = [](const SchedulePoint& point) {
        return std::isfinite(point.update) && std::isfinite(point.factor) && point.update >= 0.0F &&
               point.factor >= 0.0F;
    };
    const auto is_late = [](const SchedulePoint& a, const SchedulePoint& b) { return a.update >= b.update; };
    return !points.empty() && points.size() <= kMaxSchedulePoints &&
           std::all_of(points.begin(), points.end(), is_good) &&
           std::adjacent_find(points.begin(), points.end(), is_late) == points.end();
}

// One update's writing, with the state before and after it.
class Update {
  public:
    Update(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs)
        : graph_(graph), config_(config), inputs_(inputs), gradients_(inputs.gradients) {}

    std::vector<Value> write();

  private:
    std::size_t count() const { return inputs_.parameters.size(); }
    bool decays(std::size_t i) const;
    /// `rate` as it is for a parameter.
    Value rate_of(std::size_t i, const Value& rate);
    std::vector<Value> accumulate();
    void add_decay();
    std::vector<Value> write_sgd();
    std::vector<Value> write_rmsprop();
    std::vector<Value> write_adam();

    GraphBuilder& graph_;
    const OptimizerConfig& config_;
    const OptimizerInputs& inputs_;
    std::vector<Value> gradients_;
};

bool Update::decays(std::size_t i) const {
    return inputs_.decays.empty() ? decays_by_default(inputs_.parameters[i].shape) : inputs_.decays[i];
}

Value Update::rate_of(std::size_t i, const Value& rate) {
    return inputs_.rates.empty() || inputs_.rates[i] == 1.0F ? rate : graph_.scale(rate, inputs_.rates[i]);
}

// The sums so far, this step's gradients included; their means become the gradients.
std::vector<Value> Update::accumulate() {
    std::vector<Value> sums;
    const std::size_t first = inputs_.slots.size() - count();
    for (std::size_t i = 0; i < count(); ++i) {
        sums.push_back(graph_.add(inputs_.slots[first + i], gradients_[i]));
        gradients_[i] = graph_.scale(sums[i], 1.0F / static_cast<float>(config_.accumulation));
    }
    return sums;
}

void Update::add_decay() {
    for (std::size_t i = 0; i < count(); ++i) {
        if (decays(i)) {
            gradients_[i] = graph_.add(gradients_[i], graph_.scale(inputs_.parameters[i], config_.weight_decay));
        }
    }
}

std::vector<Value> Update::write_sgd() {
    const Value rate = append_learning_rate(graph_, config_);
    std::vector<Value> next;
    std::vector<Value> velocities;
    for (std::size_t i = 0; i < count(); ++i) {
        Value step = gradients_[i];
        if (has_momentum(config_)) {
            step = graph_.add(graph_.scale(inputs_.slots[i], config_.momentum), step);
            velocities.push_back(step);
        }
        if (config_.kind == OptimizerKind::kNesterov) {
            step = graph_.add(gradients_[i], graph_.scale(step, config_.momentum));
        }
        next.push_back(graph_.sub(inputs_.parameters[i], graph_.mul(step, rate_of(i, rate))));
    }
    next.insert(next.end(), velocities.begin(), velocities.end());
    return next;
}

std::vector<Value> Update::write_rmsprop() {
    const std::size_t n = count();
    const Value rate = append_learning_rate(graph_, config_);
    std::vector<Value> next;
    std::vector<Value> squares;
    std::vector<Value> velocities;
    for (std::size_t i = 0; i < n; ++i) {
        const Value square = graph_.mul(gradients_[i], gradients_[i]);
        squares.push_back(moving_average(graph_, inputs_.slots[i], square, config_.alpha));
        const Value deviation = graph_.add_const(graph_.sqrt(squares[i]), config_.epsilon);
        Value step = graph_.div(gradients_[i], deviation);
        if (has_momentum(config_)) {
            step = graph_.add(graph_.scale(inputs_.slots[n + i], config_.momentum), step);
            velocities.push_back(step);
        }
        next.push_back(graph_.sub(inputs_.parameters[i], graph_.mul(step, rate_of(i, rate))));
    }
    next.insert(next.end(), squares.begin(), squares.end());
    next.insert(next.end(), velocities.begin(), velocities.end());
    return next;
}

// The moving averages start from zeros; dividing by the weight that the samples have in them by now, the moving
// average of ones, makes up for it. It is 1 - beta^t, without a power.
std::vector<Value> Update::write_adam() {
    const std::size_t n = count();
    const Value rate = append_learning_rate(graph_, config_);
    const auto next_weight = [this](const Value& weight, float beta) {
        return graph_.add_const(graph_.scale(weight, beta), 1.0F - beta);
    };
    const Value weight1 = next_weight(inputs_.slots[2 * n], config_.beta1);
    const Value weight2 = next_weight(inputs_.slots[2 * n + 1], config_.beta2);
    const Value corrected_rate = graph_.div(rate, weight1);
    const Value correction = graph_.div(number(graph_, 1.0F), weight2);
    const bool is_decoupled = config_.kind == OptimizerKind::kAdamW && config_.weight_decay > 0.0F;
    const Value kept = is_decoupled ? one_minus(graph_, graph_.scale(rate, config_.weight_decay)) : Value{};
    std::vector<Value> next(3 * n);
    for (std::size_t i = 0; i < n; ++i) {
        const Value& gradient = gradients_[i];
        const Value own_rate = rate_of(i, rate);
        const bool is_common = own_rate == rate;
        const Value first = moving_average(graph_, inputs_.slots[i], gradient, config_.beta1);
        const Value square = graph_.mul(gradient, gradient);
        const Value second = moving_average(graph_, inputs_.slots[n + i], square, config_.beta2);
        const Value deviation = graph_.add_const(graph_.sqrt(graph_.mul(second, correction)), config_.epsilon);
        Value parameter = inputs_.parameters[i];
        if (is_decoupled && decays(i)) {
            const Value own = is_common ? kept : one_minus(graph_, graph_.scale(own_rate, config_.weight_decay));
            parameter = graph_.mul(parameter, own);
        }
        const Value step_rate = is_common ? corrected_rate : graph_.div(own_rate, weight1);
        next[i] = graph_.sub(parameter, graph_.div(graph_.mul(first, step_rate), deviation));
        next[n + i] = first;
        next[2 * n + i] = second;
    }
    next.push_back(weight1);
    next.push_back(weight2);
    return next;
}

std::vector<Value> Update::write() {
    const std::vector<Value> sums = config_.accumulation > 1 ? accumulate() : std::vector<Value>{};
    if (config_.clip_norm > 0.0F) {
        append_clipping(graph_, config_.clip_norm, gradients_);
    }
    if (config_.weight_decay > 0.0F && config_.kind != OptimizerKind::kAdamW) {
        add_decay();
    }
    std::vector<Value> next = is_adam(config_.kind)                     ? write_adam()
                              : config_.kind == OptimizerKind::kRmsprop ? write_rmsprop()
                                                                        : write_sgd();
    if (sums.empty()) {
        return next;
    }
    // Only the last of the steps that make an update changes anything but the sums.
    const float last = static_cast<float>(config_.accumulation - 1);
    const Value is_last = graph_.equal(graph_.step_count(1, config_.accumulation), number(graph_, last));
    for (std::size_t i = 0; i < next.size(); ++i) {
        const Value& before = i < count() ? inputs_.parameters[i] : inputs_.slots[i - count()];
        next[i] = graph_.select(next[i], is_last, before);
    }
    const Value is_kept = one_minus(graph_, is_last);
    for (const Value& sum : sums) {
        next.push_back(graph_.mul(sum, is_kept));
    }
    return next;
}

void append_slots(std::vector<Slot>& slots, const std::vector<StateTensor>& parameters, const std::string& prefix) {
    for (const StateTensor& parameter : parameters) {
        slots.push_back(Slot{StateTensor{prefix + parameter.name, parameter.type}, 0.0F});
    }
}

bool is_dgc(const OptimizerConfig& config) { return config.replicas.exchange == ExchangeKind::kDgc; }

bool are_replicas(const OptimizerConfig& config) {
    const Replicas& replicas = config.replicas;
    const bool is_sgd = config.kind == OptimizerKind::kSgd || config.kind == OptimizerKind::kSgdMomentum;
    return replicas.count >= 1 && replicas.count <= kMaxReplicas && replicas.block >= 1 &&
           replicas.block <= canonical::kMaxDimension && (!is_dgc(config) || (is_sgd && config.accumulation == 1));
}

Result<void, OptimizerError> fail(OptimizerError error) { return Unexpected{error}; }

}  // namespace

Result<void, OptimizerError> check_optimizer(const OptimizerConfig& config) {
    const auto is_size = [](float x) { return std::isfinite(x) && x >= 0.0F; };
    const auto is_decay = [](float x) { return x >= 0.0F && x < 1.0F; };
    if (!is_size(config.learning_rate) || !is_size(config.epsilon) || !is_size(config.weight_decay) ||
        !is_size(config.clip_norm)) {
        return fail(OptimizerError::kRate);
    }
    if (!is_decay(config.momentum) || !is_decay(config.alpha) || !is_decay(config.beta1) || !is_decay(config.beta2)) {
        return fail(OptimizerError::kDecayRate);
    }
    const Schedule& schedule = config.schedule;
    const bool ends = schedule.kind == ScheduleKind::kCosine || schedule.kind == ScheduleKind::kLinear;
    const bool steps = schedule.kind == ScheduleKind::kStep;
    if ((schedule.kind == ScheduleKind::kPoints && (!are_points(schedule.points) || schedule.warmup_updates > 0)) ||
        (steps && (schedule.period == 0 || !(schedule.gamma > 0.0F && schedule.gamma <= 1.0F))) ||
        (ends && schedule.total_updates <= schedule.warmup_updates) ||
        !(schedule.final_fraction >= 0.0F && schedule.final_fraction <= 1.0F)) {
        return fail(OptimizerError::kSchedule);
    }
    if (config.accumulation == 0 || config.accumulation > kMaxAccumulation) {
        return fail(OptimizerError::kAccumulation);
    }
    return are_replicas(config) ? Result<void, OptimizerError>{} : fail(OptimizerError::kReplicas);
}

std::uint32_t slots_per_parameter(const OptimizerConfig& config) {
    if (is_dgc(config)) {
        return (has_momentum(config) ? 2 : 1) * config.replicas.count;
    }
    return (is_adam(config.kind) ? 2U : 0U) + (config.kind == OptimizerKind::kRmsprop ? 1U : 0U) +
           (has_momentum(config) ? 1U : 0U) + (config.accumulation > 1 ? 1U : 0U);
}

std::uint32_t slots_besides(const OptimizerConfig& config) { return is_adam(config.kind) ? 2 : 0; }

std::vector<Slot> optimizer_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters) {
    if (is_dgc(config)) {
        return dgc_slots(config, parameters);
    }
    std::vector<Slot> slots;
    if (config.kind == OptimizerKind::kRmsprop) {
        append_slots(slots, parameters, "adam.second.");  // the same average as Adam's
    }
    if (has_momentum(config)) {
        append_slots(slots, parameters, "momentum.");
    }
    if (is_adam(config.kind)) {
        append_slots(slots, parameters, "adam.first.");
        append_slots(slots, parameters, "adam.second.");
        const canonical::TensorType scalar{canonical::DType::kF32, kOptimizerScalar};
        slots.push_back(Slot{StateTensor{"adam.first_weight", scalar}, 0.0F});
        slots.push_back(Slot{StateTensor{"adam.second_weight", scalar}, 0.0F});
    }
    if (config.accumulation > 1) {
        append_slots(slots, parameters, "accumulated.");
    }
    return slots;
}

void append_clipping(GraphBuilder& graph, float limit, std::vector<Value>& gradients) {
    Value square;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const Value sum = graph.sum(graph.mul(gradients[i], gradients[i]));
        square = i == 0 ? sum : graph.add(square, sum);
    }
    const Value norm = graph.add_const(graph.sqrt(square), kNormFloor);
    const Value factor = graph.min(graph.div(number(graph, limit), norm), number(graph, 1.0F));
    for (Value& gradient : gradients) {
        gradient = graph.mul(gradient, factor);
    }
}

bool decays_by_default(canonical::Shape shape) { return shape.rows > 1 && shape.cols > 1; }

Value append_learning_rate(GraphBuilder& graph, const OptimizerConfig& config) {
    const Schedule& schedule = config.schedule;
    const Value update = graph.step_count(config.accumulation, 0);
    const Value one = number(graph, 1.0F);
    Value factor = one;
    if (schedule.kind == ScheduleKind::kPoints) {
        factor = between_points(graph, schedule, update);
    }
    if (schedule.warmup_updates > 0) {
        const float share = 1.0F / static_cast<float>(schedule.warmup_updates);
        const Value warmed = schedule.warms_from_zero ? update : graph.add_const(update, 1.0F);
        factor = graph.min(graph.scale(warmed, share), one);
    }
    if (schedule.kind == ScheduleKind::kStep) {
        // Half an update more, so that a period's end is no matter of rounding.
        const Value since = graph.add_const(update, 0.5F - static_cast<float>(schedule.warmup_updates));
        const Value periods = graph.floor(graph.scale(since, 1.0F / static_cast<float>(schedule.period)));
        const Value passed = graph.max(periods, number(graph, 0.0F));
        factor = graph.mul(factor, graph.exp(graph.scale(passed, std::log(schedule.gamma))));
    }
    if (schedule.kind == ScheduleKind::kCosine || schedule.kind == ScheduleKind::kLinear) {
        const std::uint32_t length = schedule.total_updates - schedule.warmup_updates;
        const Value since = graph.add_const(update, -static_cast<float>(schedule.warmup_updates));
        const Value share = graph.scale(since, 1.0F / static_cast<float>(length));
        const Value progress = graph.min(graph.max(share, number(graph, 0.0F)), one);
        const float fall = 1.0F - schedule.final_fraction;
        Value left;
        if (schedule.kind == ScheduleKind::kCosine) {
            const Value wave = graph.cos(graph.scale(progress, kPi));
            left = graph.scale(graph.add_const(wave, 1.0F), 0.5F * fall);
        } else {
            left = graph.scale(one_minus(graph, progress), fall);
        }
        factor = graph.mul(factor, graph.add_const(left, schedule.final_fraction));
    }
    return factor == one ? number(graph, config.learning_rate) : graph.scale(factor, config.learning_rate);
}

std::vector<Value> append_optimizer(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs) {
    ASSERT(check_optimizer(config).has_value() && config.replicas.count == 1 && !is_dgc(config));
    const std::size_t count = inputs.parameters.size();
    ASSERT(inputs.gradients.size() == count && (inputs.decays.empty() || inputs.decays.size() == count));
    ASSERT(inputs.rates.empty() || inputs.rates.size() == count);
    ASSERT(inputs.slots.size() == slots_per_parameter(config) * count + slots_besides(config));
    return Update(graph, config, inputs).write();
}

}  // namespace assay::program
