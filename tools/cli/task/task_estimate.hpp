// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <verifier/taskdir/dispute_bound.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::cli {

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
    std::uint64_t training_bytes = 0;                    ///< peak memory, with each tensor freed after its last use
    std::uint64_t dispute_bytes = 0;  ///< memory for all tensors of one step, which a party to a dispute keeps
    taskdir::DisputeBound dispute;
};

Estimate estimate_task(const taskdir::BuiltTask& task);

nlohmann::json to_json(const Estimate& estimate, const taskdir::BuiltTask& task);
std::string estimate_text(const Estimate& estimate, const taskdir::BuiltTask& task);

}  // namespace assay::cli
