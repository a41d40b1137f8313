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

inline constexpr std::uint64_t kDatasetRows = 1024;  ///< of the datasets that measurements read

/// One of the models that both sides know, or the Llama, which is canonical only: its `native` throws.
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
