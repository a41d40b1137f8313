// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/assert.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

/// Internal to the program module: shared by check_model and the builders.
namespace assay::program {

/// Checks everything except the number of nodes. A configuration that passes can be built. Fails with ModelError.
Result<void, ModelError> check_sizes(const CharModelConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_sizes(const MlpConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_sizes(const CnnConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_sizes(const GptConfig& model, const OptimizerConfig& optimizer);

/// Implements check_model: checks the sizes, then builds the program with `write` and checks it. Fails with ModelError.
template <class Config, class Write>
Result<void, ModelError> check_written(const Config& model, const OptimizerConfig& optimizer, Write write) {
    TRY(check_sizes(model, optimizer));
    if (!check_program(write(model, optimizer))) {
        return Unexpected{ModelError::kTooLarge};
    }
    return {};
}

template <class Config, class Write>
Program build_checked(const Config& model, const OptimizerConfig& optimizer, Write write) {
    ASSERT(check_sizes(model, optimizer).has_value());
    Program program = write(model, optimizer);
    ASSERT(check_program(program).has_value());
    return program;
}

}  // namespace assay::program
