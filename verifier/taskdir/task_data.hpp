// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <verifier/artifacts/dataset.hpp>

namespace assay::taskdir {

/// A task's dataset, ready to be put in a store.
struct TaskData {
    std::string section = "data";  ///< of task.toml, for findings
    Bytes artifact;
    std::shared_ptr<const artifacts::Dataset> dataset;
    std::uint32_t vocabulary = 0;  ///< of a text; 0 otherwise
    std::vector<bool> is_real;     ///< for each place of a row: whether it holds the bits of an f32
};

/// Reads the data as the task's model takes them; nullopt after a finding.
///
/// A text becomes rows of character ids. A safetensors file has either a tensor "rows", or one tensor for each of
/// DataFiles::columns, whose values follow one another in a row. Integers (I32, I64) stay what they are, reals (F32)
/// become their bits; what a classifier learns to predict, the last column, is an integer in any case.
std::optional<TaskData> load_data(const TaskFile& task, Findings& findings);

/// Finds values that `model`, complete by now, cannot mean: a token beyond the vocabulary, a class beyond the classes.
void check_data(const Model& model, const TaskData& data, Findings& findings);

}  // namespace assay::taskdir
