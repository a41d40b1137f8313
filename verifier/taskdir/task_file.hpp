// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_wishes.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/optimizer.hpp>

namespace assay::taskdir {

/// A model given as an ONNX file.
struct OnnxModel {
    std::string file = "program.onnx";                  ///< relative to the task directory
    std::string loss{};                                 ///< name of the graph output; the first one if empty
    std::vector<std::string> frozen{};                  ///< initializers that are not trained
    std::optional<std::vector<std::string>> decayed{};  ///< those that weight decay applies to, if they are named
    std::map<std::string, float> rates{};               ///< what the learning rates of some are multiplied by
    std::uint32_t batch_size = 0;
};

using Model =
    std::variant<program::CharModelConfig, program::MlpConfig, program::CnnConfig, program::GptConfig, OnnxModel>;

/// Location of the data relative to the task directory: either `text` or `rows` is set.
struct DataFiles {
    std::string section = "data";  ///< section of task.toml
    std::optional<std::string> text{};
    std::optional<std::string> tokenizer{};  ///< of `text`, a tokenizer.json; without it the tokens are characters
    std::optional<std::string> rows{};
    std::vector<std::string> columns{"inputs", "targets"};  ///< columns of `rows`, unless that file has a tensor "rows"
};

/// The hold-out set that a task is scored on: rows of the same format as the training data.
struct Holdout {
    DataFiles files{.section = "evaluation"};
    std::optional<std::uint32_t> batches{};  ///< default: as many as the set has and the limits allow
};

/// The contents of task.toml (docs/operations/task-directory.md lists the keys). Sizes that depend on the data are
/// still 0.
struct TaskFile {
    std::filesystem::path directory;
    contracts::TaskSpec spec;  ///< from the keys at the top of the file
    Model model;
    program::OptimizerConfig optimizer;
    std::optional<program::LocalReplicas> local{};  ///< of the whole program; `optimizer` is each replica's own
    program::Profile profile;
    DataFiles data;
    std::optional<Holdout> holdout{};
    std::vector<NamedCheck> checks{};
    bool is_private = false;  ///< PRV-1: only those who are drawn can read it
};

/// Reads DIR/task.toml. Errors in it become findings; the result is complete only if there are none. Throws
/// TaskDirectoryError if the file cannot be read or is not TOML.
TaskFile read_task_file(const std::filesystem::path& directory, Findings& findings);

/// Returns the file name that findings about `directory` use.
std::string task_file_name(const std::filesystem::path& directory);

/// Returns the model kind: "char", "mlp", "cnn", "gpt", "llama" or "onnx".
const char* kind_of(const Model& model) noexcept;
/// Returns the profile's name, such as "XG-21", or "p=12, chunk 64" if it has none.
std::string profile_name(const program::Profile& profile);

/// Reads a whole file. Throws TaskDirectoryError.
std::string read_file(const std::filesystem::path& file);

}  // namespace assay::taskdir
