// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <verifier/taskdir/dispute_bound.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::cli {

/// What a task costs, as far as its program and its data tell without running it.
struct Estimate {
    std::map<std::string, std::uint32_t> nodes_by_op;    ///< of one step
    std::uint64_t parameters = 0;                        ///< values of the model; running statistics count too
    std::uint64_t optimizer_values = 0;                  ///< of the optimizer's own tensors
    std::uint64_t state_bytes = 0;
    std::uint64_t checkpoint_bytes = 0;                  ///< about: the state and a header
    std::map<std::string, std::uint64_t> multiply_adds;  ///< of one step's contractions, by profile
    std::uint64_t elements_written = 0;                  ///< by the other nodes of one step
    std::uint64_t rows_read = 0;                         ///< of the dataset in the whole run
    std::uint32_t segments = 0;                          ///< without the initialisation
    std::uint64_t training_bytes = 0;                    ///< of tensors alive at once, each freed after its last use
    std::uint64_t dispute_bytes = 0;                     ///< of a whole step's tensors, which a party to a dispute keeps
    taskdir::DisputeBound dispute;
};

Estimate estimate_task(const taskdir::BuiltTask& task);

nlohmann::json to_json(const Estimate& estimate, const taskdir::BuiltTask& task);
std::string estimate_text(const Estimate& estimate, const taskdir::BuiltTask& task);

}  // namespace assay::cli
