// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include <core/base/result.hpp>
#include <verifier/compile/onnx/import.hpp>
#include <verifier/sandbox/sandbox.hpp>

/// ONNX models in the sandbox. A model may well be a stranger's: many are downloaded.
namespace assay::taskdir {

/// Why a model gives no program: what is wrong with it, or how its parser ended.
using ModelError = std::variant<onnx::ImportError, sandbox::Refusal>;
std::string message_of(const ModelError& error);

/// Imports the model at `path` for training. Files beside it or in folders there may have its weights;
/// `config.external` must be empty. Throws TaskDirectoryError if the file cannot be read.
Result<onnx::TrainingImport, ModelError> import_foreign_model(
    const std::filesystem::path& path, const onnx::TrainingConfig& config
);

}  // namespace assay::taskdir
