// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/optimizer.hpp>

namespace assay::taskdir {

/// A model that comes as an ONNX file.
struct OnnxModel {
    std::string file = "program.onnx";  ///< relative to the task directory
    std::string loss{};                 ///< the graph output; the first one when empty
    std::vector<std::string> frozen{};  ///< initializers that are not trained
    std::uint32_t batch_size = 0;
};

using Model = std::variant<
    program::CharModelConfig, program::MlpConfig, program::CnnConfig, program::GptConfig, OnnxModel>;

/// Where the data are, relative to the task directory: exactly one of the two.
struct DataFiles {
    std::string section = "data";  ///< of task.toml
    std::optional<std::string> text{};
    std::optional<std::string> rows{};
    std::vector<std::string> columns{"inputs", "targets"};  ///< of `rows`, unless it has a tensor "rows"
};

/// What a task is scored on: rows of the same kind as the data's.
struct Holdout {
    DataFiles files{.section = "evaluation"};
    std::optional<std::uint32_t> batches{};  ///< nothing: as many as there are and as fit
};

/// What task.toml says (docs/operations/task-directory.md has the keys). Sizes that the data decide are still 0.
struct TaskFile {
    std::filesystem::path directory;
    contracts::TaskSpec spec;  ///< what stands at the top of the file
    Model model;
    program::OptimizerConfig optimizer;
    program::Profile profile;
    DataFiles data;
    std::optional<Holdout> holdout{};
};

/// Reads DIR/task.toml. What is wrong with it becomes findings; what comes back is complete only when there are none.
/// Throws TaskDirectoryError when the file cannot be read or is not TOML.
TaskFile read_task_file(const std::filesystem::path& directory, Findings& findings);

/// The file that findings about `directory` name.
std::string task_file_name(const std::filesystem::path& directory);

/// "char", "mlp", "cnn", "gpt", "onnx".
const char* kind_of(const Model& model) noexcept;
/// "XG-21", or "p=12, chunk 64" for a profile without a name.
std::string profile_name(const program::Profile& profile);

/// The whole of a file. Throws TaskDirectoryError.
std::string read_file(const std::filesystem::path& file);

}  // namespace assay::taskdir
