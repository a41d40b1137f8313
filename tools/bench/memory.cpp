// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/bench.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

#include <core/dispute/work.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/process_memory.hpp>
#include <verifier/engine/fused/planning.hpp>

namespace assay::bench {
namespace {

using engine::fused::Plan;
using nlohmann::json;

constexpr double kMib = 1024.0 * 1024.0;

json planned(const Plan& plan, const program::Program& program) {
    return {
        {"mib", static_cast<double>(plan.memory_bytes()) / kMib},
        {"state_mib", static_cast<double>(plan.state_bytes) / kMib},
        {"arena_mib", static_cast<double>(plan.arena_bytes) / kMib},
        {"arena_over_needed", static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.needed_bytes)},
        {"work_over_program",
         static_cast<double>(dispute::work_of(plan.graph)) / static_cast<double>(dispute::work_of(program.step))}};
}

json measured(const std::string& model, const MemoryOptions& options, std::size_t limit_bytes) {
    return json::parse(output_of(
        "peak --model " + model + " --profile " + options.profile + " --threads " + std::to_string(options.threads) +
        " --steps " + std::to_string(options.steps) + " --memory " + std::to_string(limit_bytes)
    ));
}

}  // namespace

json run_memory_bench(const MemoryOptions& options) {
    json out = json::array();
    for (const std::string& name : options.models) {
        const program::Program program = canonical_program(name, options.profile);
        std::vector<canonical::TensorType> types;
        for (const program::StateTensor& tensor : program.state) {
            types.push_back(tensor.type);
        }
        const std::vector<std::uint32_t> kept{program.loss_node};
        const engine::fused::PlanInput input{
            .graph = program.step, .state = types, .kept = kept, .threads = options.threads};
        const auto plain = engine::fused::make_plan(input);
        const auto least = engine::fused::make_plan(input, 1);
        if (!plain || !least) {
            throw std::runtime_error(name + " has no plan");
        }
        json model = {
            {"model", name},
            {"parameters", parameters_of(program)},
            {"nodes", program.step.size()},
            {"fastest", planned(*plain, program)},
            {"least", planned(*least, program)}};
        if (options.steps > 0) {
            model["fastest"]["measured"] = measured(name, options, 0);
            model["least"]["measured"] = measured(name, options, least->memory_bytes());
        }
        out.push_back(std::move(model));
    }
    return {{"bench", "memory"}, {"profile", options.profile}, {"threads", options.threads}, {"models", out}};
}

}  // namespace assay::bench
