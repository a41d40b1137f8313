// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// Optimizers as graphs: an update is a sequence of operations that round once each, and optimizer slots are state
/// tensors. docs/protocol/programs.md has the formulas, which are those of torch.optim.
namespace assay::program {

enum class OptimizerKind : std::uint8_t {
    kSgdMomentum = 1,
    kAdam = 2,
    kSgd = 3,
    kAdamW = 4,
    kNesterov = 5,
    kRmsprop = 6
};

/// Factor of the learning rate as a function of the update number.
enum class ScheduleKind : std::uint8_t {
    kConstant = 1,
    kCosine = 2,  ///< half a cosine, from 1 to final_fraction
    kLinear = 3,  ///< linear, from 1 to final_fraction
    kStep = 4,    ///< times `gamma` after each `period` updates
    kPoints = 5,  ///< from point to point: linear, or along half a cosine
};
/// The factor at an update, which need not be a whole number: a point may lie between two updates.
struct SchedulePoint {
    float update = 0.0F;
    float factor = 0.0F;
};
inline constexpr std::size_t kMaxSchedulePoints = 64;
struct Schedule {
    ScheduleKind kind = ScheduleKind::kConstant;
    std::uint32_t warmup_updates = 0;  ///< warm-up: update t (from 0) of these uses (t+1) / warmup_updates of the rate
    std::uint32_t total_updates = 0;   ///< number of updates at which kCosine and kLinear end, warm-up included
    float final_fraction = 0.0F;
    bool warms_from_zero = false;  ///< warm-up: update t uses t / warmup_updates instead
    std::uint32_t period = 0;      ///< kStep; counted from the end of the warm-up
    float gamma = 0.1F;
    std::vector<SchedulePoint> points{};  ///< kPoints, which has no warm-up; the first and the last hold outside
    bool is_curved = false;               ///< kPoints: half a cosine between two points
};

/// How the gradients of replicas become one update.
enum class ExchangeKind : std::uint8_t {
    kDense = 1,  ///< every replica's gradients as they are: the optimizer gets their mean
    kDgc =
        2,  ///< Deep Gradient Compression (arXiv 1712.01887): each replica accumulates and sends its largest elements
};
/// Data-parallel replicas that are written into a program: each has its own rows of every batch. Unlike a plan, which
/// divides the work of one program, their number is part of the program and of its result.
struct Replicas {
    std::uint32_t count = 1;
    ExchangeKind exchange = ExchangeKind::kDense;
    std::uint32_t block = 1024;      ///< kDgc: one element is sent of so many
    std::uint32_t dense_below = 64;  ///< kDgc: parameters with fewer elements are exchanged as they are
};
inline constexpr std::uint32_t kMaxReplicas = 256;

/// How the state holds moving averages of gradients and of their squares, and momenta.
enum class Moments : std::uint8_t {
    kF32 = 1,
    kBf16 = 2,
    kInt8 = 3,  ///< in blocks of one exponent; of the average of squares its root
};

struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::kAdam;
    float learning_rate = 0.003F;
    float momentum = 0.9F;  ///< kSgdMomentum, kNesterov; kRmsprop, which keeps none if it is 0
    float alpha = 0.99F;    ///< kRmsprop: what the mean of squares keeps of itself
    float beta1 = 0.9F;     ///< kAdam, kAdamW
    float beta2 = 0.999F;
    float epsilon = 1e-8F;
    float weight_decay = 0.0F;       ///< kAdamW: decoupled; others: L2, added to the gradient
    float clip_norm = 0.0F;          ///< limit for the global gradient norm; 0: no clipping
    std::uint32_t accumulation = 1;  ///< gradient accumulation: number of steps averaged per update
    Schedule schedule{};
    Replicas replicas{};
    Moments moments = Moments::kF32;  ///< with_narrow_moments() writes them, no model's builder
};

enum class [[nodiscard]] OptimizerError : std::uint8_t{
    kRate = 1,       ///< a learning rate, decay, norm or epsilon that is negative or not finite
    kDecayRate = 2,  ///< momentum, alpha, beta1 or beta2 not in [0, 1)
    kSchedule = 3,   ///< no updates after the warm-up, a final fraction outside [0, 1], a period of 0, gamma not in (0,
                     ///< 1], or points that are none, too many, not in order, negative or not finite
    kAccumulation = 4,  ///< 0 or more than 2^20 steps
    kReplicas = 5,  ///< no replicas or more than kMaxReplicas, a block of 0 or of more than 2^24 elements, or DGC with
                    ///< accumulation or with an optimizer other than SGD and SGD with momentum
};
/// Checks what append_optimizer requires. Fails with OptimizerError.
Result<void, OptimizerError> check_optimizer(const OptimizerConfig& config);

/// An optimizer slot: a state tensor and its initial value, which the caller writes into the init graph.
struct Slot {
    StateTensor tensor;
    float initial = 0.0F;
};

/// Returns how many slots the optimizer has for each parameter (with DGC at most so many), and how many besides.
std::uint32_t slots_per_parameter(const OptimizerConfig& config);
std::uint32_t slots_besides(const OptimizerConfig& config);

/// Returns the optimizer's slots for `parameters`; they follow the parameters in the state.
std::vector<Slot> optimizer_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters);

/// Inputs of an update: parameters, their gradients in the same order, and the slots in the order of optimizer_slots().
struct OptimizerInputs {
    std::vector<Value> parameters;
    std::vector<Value> gradients;
    std::vector<Value> slots;
    /// Parameters that weight decay applies to; if empty, those with more than one row and more than one column.
    std::vector<bool> decays{};
    /// What each parameter's learning rate is multiplied by; if empty, 1.
    std::vector<float> rates{};
};
/// Appends one update and returns the next state: parameters, then slots. `config` must pass check_optimizer.
std::vector<Value> append_optimizer(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs);

/// Scales gradients by min(1, limit / (norm + 1e-6)), where norm is that of all of them together.
void append_clipping(GraphBuilder& graph, float limit, std::vector<Value>& gradients);
/// Whether weight decay applies to a parameter of this shape unless its decay is given: it has several rows and
/// columns.
bool decays_by_default(canonical::Shape shape);

/// Appends the learning rate [1,1] of the update that this step makes or accumulates for.
Value append_learning_rate(GraphBuilder& graph, const OptimizerConfig& config);

}  // namespace assay::program
