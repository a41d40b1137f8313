// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <verifier/compile/program/program.hpp>
#include <verifier/taskdir/task_file.hpp>

namespace assay::cli {

/// What a program's steps take in an engine on this CPU.
struct StepMemory {
    std::uint64_t bytes = 0;        ///< within the limit if there is one that can be met
    std::uint64_t least_bytes = 0;  ///< with as much computed again as helps
    double work = 1.0;              ///< multiply-adds over those of the program: more if outputs are computed again
};
/// `limit_bytes` 0: no limit.
StepMemory step_memory(const program::Program& program, std::uint64_t limit_bytes, int threads);

/// The largest model of a task's family whose steps fit.
struct LargestModel {
    std::string size;  ///< such as "24 layers"
    std::uint64_t state_bytes = 0;
    StepMemory memory;
    bool is_bound_by_memory = true;  ///< false: the next one would have too many nodes or too large tensors
};
/// Multiplies a GPT's layers and another model's widths by whole numbers. nullopt if the model itself does not fit, or
/// is an ONNX file, which has one size.
std::optional<LargestModel> largest_model(const taskdir::TaskFile& file, std::uint64_t limit_bytes, int threads);

}  // namespace assay::cli
