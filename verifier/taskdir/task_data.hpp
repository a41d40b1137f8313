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
    std::string section = "data";  ///< section of task.toml, for findings
    std::shared_ptr<const artifacts::Dataset> dataset;
    std::uint32_t vocabulary = 0;        ///< vocabulary size of a text; 0 otherwise
    std::string characters{};            ///< of a text without a tokenizer, in the order of their ids, as UTF-8
    std::optional<Hash256> tokenizer{};  ///< SHA-256 of the tokenizer.json that made the tokens
    std::vector<bool> is_real;           ///< for each column of a row: whether it holds the bits of an f32
};

/// Reads the data in the form that the task's model takes. Returns nullopt and adds a finding if that fails. A text
/// becomes rows of ids of characters, or of its tokenizer's tokens. A safetensors file has a tensor "rows", or one
/// tensor for each of DataFiles::columns, whose values are concatenated in each row. Integers (I32, I64) are kept,
/// reals (F32) become their bit patterns; the last column of a classifier's data, its target, is an integer in any
/// case.
std::optional<TaskData> load_data(const TaskFile& task, Findings& findings);

/// Adds findings for values that are invalid for `model`, whose sizes are complete: a token outside the vocabulary, or
/// a class outside the classes.
void check_data(const Model& model, const TaskData& data, Findings& findings);

}  // namespace assay::taskdir
