// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/params.hpp>
#include <tools/cli/task/step_memory.hpp>
#include <verifier/taskdir/dispute_bound.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::cli {

/// The machine that an estimate is for.
struct EstimateOptions {
    std::uint64_t memory_bytes = 0;  ///< for a task; 0: what this machine has available
    std::uint64_t score = 0;         ///< what assay-worker benchmark says; 0: not known
    int threads = 1;
    bool with_memory = true;  ///< false: without what takes plans, some of them of larger models
};

/// Estimated costs of a task, computed from its program and data without running it.
struct Estimate {
    std::map<std::string, std::uint32_t> nodes_by_op;  ///< nodes in one step, by operation
    std::uint64_t parameters = 0;                      ///< number of model values, including running statistics
    std::uint64_t optimizer_values = 0;                ///< number of values in the optimizer's own tensors
    std::uint64_t state_bytes = 0;
    std::uint64_t checkpoint_bytes = 0;                  ///< approximate: the state and a header
    std::map<std::string, std::uint64_t> multiply_adds;  ///< in the contractions of one step, by profile
    std::uint64_t elements_written = 0;                  ///< by all other nodes of one step
    std::uint64_t rows_read = 0;                         ///< dataset rows read in the whole run
    std::uint32_t segments = 0;                          ///< without the initialisation
    std::uint64_t memory_bytes = 0;                      ///< what the machine has for the task
    std::uint64_t training_bytes = 0;                    ///< peak memory on this CPU: dataset, steps, and a checkpoint
    std::uint64_t least_training_bytes = 0;              ///< with as much computed again as helps
    double training_work = 1.0;                          ///< work over the program's: outputs that are computed again
    std::optional<LargestModel> largest;                 ///< that fits the machine's memory
    std::vector<std::pair<std::string, double>> hours;   ///< of the whole run: by class, and with the given score
    std::uint64_t fee_min_grains = 0;                    ///< least verification fee (WRK-6)
    std::uint64_t dispute_bytes = 0;  ///< of a party to a dispute: two states, and a step that is run node by node
    taskdir::DisputeBound dispute;
};

/// `params` are those of the chain.
Estimate estimate_task(
    const taskdir::BuiltTask& task, const EstimateOptions& options = {}, const contracts::Params& params = {}
);

nlohmann::json to_json(const Estimate& estimate, const taskdir::BuiltTask& task);
std::string estimate_text(const Estimate& estimate, const taskdir::BuiltTask& task);

}  // namespace assay::cli
