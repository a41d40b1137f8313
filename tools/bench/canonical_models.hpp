// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include <tools/bench/native_models.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {

/// Returns the canonical program of a native model, with the same optimizer, for a dataset of `rows` rows. Classifiers
/// read values from 0 to 16, which are scaled by 1/16.
program::Program program_of(const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile);
program::Program program_of(const NativeMlpConfig& model, std::uint64_t rows, const program::Profile& profile);
program::Program program_of(const NativeCnnConfig& model, std::uint64_t rows, const program::Profile& profile);
program::Program program_of(const NativeResnetConfig& model, std::uint64_t rows, const program::Profile& profile);

/// The optimizer of all of them: AdamW with the numbers of NativeOptimizer.
program::OptimizerConfig adamw();

/// Returns the number of parameters of a program that Adam or AdamW trains: the values that it keeps averages for.
std::uint64_t parameters_of(const program::Program& program);

inline constexpr std::uint64_t kDatasetRows = 1024;  ///< of the datasets that measurements read

/// One of the models that both sides know.
struct Model {
    std::string name;
    nlohmann::json size;      ///< as torch_steps.py takes it
    std::uint32_t limit = 0;  ///< of the dataset's values
    std::function<program::Program(const program::Profile&)> canonical;
    std::function<std::unique_ptr<NativeModel>(const std::string& device)> native;
};
/// Returns one of the models that are measured. Throws for another name.
Model model_named(const std::string& name);

}  // namespace assay::bench
