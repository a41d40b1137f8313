// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/step_memory.hpp>

#include <type_traits>
#include <variant>
#include <vector>

#include <core/dispute/work.hpp>
#include <verifier/compile/program/narrow_moments.hpp>
#include <verifier/engine/fused/planning.hpp>

namespace assay::cli {
namespace {

using engine::fused::Plan;
using program::Program;

/// A model of a task's family, so many times as large.
struct Grown {
    std::optional<Program> program;
    std::string size;
};

std::string joined(const std::vector<std::uint32_t>& widths) {
    std::string out;
    for (const std::uint32_t width : widths) {
        out += (out.empty() ? "" : ", ") + std::to_string(width);
    }
    return out;
}

Grown grow(program::GptConfig config, const program::OptimizerConfig& optimizer, std::uint32_t factor) {
    config.layers *= factor;
    const bool is_valid = check_model(config, optimizer).has_value();
    return {
        is_valid ? std::optional(build_gpt(config, optimizer)) : std::nullopt,
        std::to_string(config.layers) + " layers"};
}

Grown grow(program::MlpConfig config, const program::OptimizerConfig& optimizer, std::uint32_t factor) {
    for (std::uint32_t& width : config.hidden) {
        width *= factor;
    }
    const bool is_valid = check_model(config, optimizer).has_value();
    return {
        is_valid ? std::optional(build_mlp(config, optimizer)) : std::nullopt,
        "hidden layers of " + joined(config.hidden)};
}

Grown grow(program::CnnConfig config, const program::OptimizerConfig& optimizer, std::uint32_t factor) {
    for (std::uint32_t& filters : config.filters) {
        filters *= factor;
    }
    const bool is_valid = check_model(config, optimizer).has_value();
    return {
        is_valid ? std::optional(build_cnn(config, optimizer)) : std::nullopt,
        "stages of " + joined(config.filters) + " filters"};
}

Grown grow(program::CharModelConfig config, const program::OptimizerConfig& optimizer, std::uint32_t factor) {
    config.hidden *= factor;
    const bool is_valid = check_model(config, optimizer).has_value();
    return {
        is_valid ? std::optional(build_char_model(config, optimizer)) : std::nullopt,
        "a hidden layer of " + std::to_string(config.hidden)};
}

Grown grow(
    const taskdir::OnnxModel& /*model*/, const program::OptimizerConfig& /*optimizer*/, std::uint32_t /*factor*/
) {
    return {};
}

}  // namespace

StepMemory step_memory(const Program& program, std::uint64_t limit_bytes, int threads) {
    const std::vector<canonical::TensorType> types = types_of(program.state);
    const std::vector<std::uint32_t> kept{program.loss_node};
    const engine::fused::PlanInput input{.graph = program.step, .state = types, .kept = kept, .threads = threads};
    const std::optional<Plan> least = engine::fused::make_plan(input, 1);
    if (!least) {  // node by node
        const std::uint64_t bytes = dispute::memory_of(program.step) + size_bytes(program.state);
        return {.bytes = bytes, .least_bytes = bytes};
    }
    const std::optional<Plan> plan = engine::fused::make_plan(input, limit_bytes);
    return {
        .bytes = plan->memory_bytes(),
        .least_bytes = least->memory_bytes(),
        .work =
            static_cast<double>(dispute::work_of(plan->graph)) / static_cast<double>(dispute::work_of(program.step))};
}

std::optional<LargestModel> largest_model(const taskdir::TaskFile& file, std::uint64_t limit_bytes, int threads) {
    constexpr std::uint32_t kMostTimes = 4096;
    std::optional<LargestModel> largest;
    bool is_bound_by_memory = true;
    const auto fits = [&](std::uint32_t factor) {
        const Grown grown =
            std::visit([&](const auto& model) { return grow(model, file.optimizer, factor); }, file.model);
        is_bound_by_memory = grown.program.has_value();
        if (!grown.program) {
            return false;
        }
        const bool is_narrow = file.optimizer.moments != program::Moments::kF32;
        const auto narrow = is_narrow ? program::with_narrow_moments(*grown.program, file.optimizer)
                                      : Result<Program, program::MomentsError>(*grown.program);
        if (!narrow) {
            is_bound_by_memory = false;
            return false;
        }
        const StepMemory memory = step_memory(*narrow, limit_bytes, threads);
        if (memory.bytes > limit_bytes) {
            return false;
        }
        largest = LargestModel{.size = grown.size, .state_bytes = size_bytes(narrow->state), .memory = memory};
        return true;
    };
    std::uint32_t low = 0;
    std::uint32_t high = 1;
    while (high <= kMostTimes && fits(high)) {
        low = high;
        high *= 2;
    }
    bool is_bound = is_bound_by_memory;
    while (high - low > 1 && low > 0) {
        const std::uint32_t middle = low + (high - low) / 2;
        const bool is_larger = fits(middle);
        (is_larger ? low : high) = middle;
        is_bound = is_larger ? is_bound : is_bound_by_memory;
    }
    if (largest) {
        largest->is_bound_by_memory = is_bound;
    }
    return largest;
}

}  // namespace assay::cli
