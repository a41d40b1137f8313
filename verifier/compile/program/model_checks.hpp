// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/assert.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

/// Inside program only: what check_model and the builders share.
namespace assay::program {

/// Everything but the number of nodes; what passes can be written.
Result<void, ModelError> check_sizes(const CharModelConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_sizes(const MlpConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_sizes(const CnnConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_sizes(const GptConfig& model, const OptimizerConfig& optimizer);

/// check_model, given what writes the program of a configuration of the right sizes.
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
