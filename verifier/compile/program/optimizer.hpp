// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// Optimizers as graphs: every update is a chain of single rounded operations, whatever has to be remembered is a
/// tensor of the state. docs/protocol/programs.md has the formulas, which are those of torch.optim.
namespace assay::program {

enum class OptimizerKind : std::uint8_t { kSgdMomentum = 1, kAdam = 2, kSgd = 3, kAdamW = 4 };

/// What the learning rate is multiplied by, from update to update.
enum class ScheduleKind : std::uint8_t {
    kConstant = 1,
    kCosine = 2,  ///< half a cosine from 1 to final_fraction
    kLinear = 3,  ///< a straight line from 1 to final_fraction
};
struct Schedule {
    ScheduleKind kind = ScheduleKind::kConstant;
    std::uint32_t warmup_updates = 0;  ///< update t (from 0) of these has (t+1) / warmup_updates of the rate
    std::uint32_t total_updates = 0;   ///< where kCosine and kLinear end, the warm-up included
    float final_fraction = 0.0F;
};

struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::kAdam;
    float learning_rate = 0.003F;
    float momentum = 0.9F;  ///< kSgdMomentum
    float beta1 = 0.9F;     ///< kAdam, kAdamW
    float beta2 = 0.999F;
    float epsilon = 1e-8F;
    float weight_decay = 0.0F;       ///< kAdamW: decoupled; others: added to the gradient
    float clip_norm = 0.0F;          ///< largest norm of all gradients together; 0: any
    std::uint32_t accumulation = 1;  ///< steps whose mean gradient makes one update
    Schedule schedule{};
};

enum class [[nodiscard]] OptimizerError : std::uint8_t {
    kRate = 1,          ///< a learning rate, decay, norm or epsilon that is not finite, or negative
    kDecayRate = 2,     ///< momentum, beta1 or beta2 not in [0, 1)
    kSchedule = 3,      ///< no updates left after the warm-up, or a final fraction outside [0, 1]
    kAccumulation = 4,  ///< 0 or more than 2^20 steps
};
/// What append_optimizer requires.
Result<void, OptimizerError> check_optimizer(const OptimizerConfig& config);

/// A tensor of the state and the value it starts from, which the caller writes into the init graph.
struct Slot {
    StateTensor tensor;
    float initial = 0.0F;
};

/// The slots that the optimizer keeps for `parameters`; they follow the parameters in the state.
std::vector<Slot> optimizer_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters);

/// What the optimizer works on: parameters, gradients in the same order, and its slots in optimizer_slots' order.
struct OptimizerInputs {
    std::vector<Value> parameters;
    std::vector<Value> gradients;
    std::vector<Value> slots;
    /// Which parameters weight decay applies to; if empty, those with more than one row and more than one column.
    std::vector<bool> decays{};
};
/// Writes one update and returns the next state: parameters, then slots.
std::vector<Value> append_optimizer(GraphBuilder& graph, const OptimizerConfig& config, const OptimizerInputs& inputs);

/// The rate [1,1] of the update that this step makes or prepares.
Value append_learning_rate(GraphBuilder& graph, const OptimizerConfig& config);

}  // namespace assay::program
