// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tools/bench/native_models.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {

/// The sizes that the bench measures; of GPTs also NativeGptConfig's own.
NativeGptConfig gpt10m_size();
NativeMlpConfig mlp_size();
NativeCnnConfig cnn_size();

/// Returns the canonical program of a native model, with the same optimizer, for a dataset of `rows` rows. Classifiers
/// read values from 0 to 16, which are scaled by 1/16.
program::Program program_of(
    const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile, bool tied_head = false
);
program::Program program_of(const NativeMlpConfig& model, std::uint64_t rows, const program::Profile& profile);
program::Program program_of(const NativeCnnConfig& model, std::uint64_t rows, const program::Profile& profile);
program::Program program_of(const NativeResnetConfig& model, std::uint64_t rows, const program::Profile& profile);

/// The same with another optimizer.
program::Program program_of(
    const NativeGptConfig& model, std::uint64_t rows, const program::Profile& profile,
    const program::OptimizerConfig& optimizer
);
program::Program program_of(
    const NativeMlpConfig& model, std::uint64_t rows, const program::Profile& profile,
    const program::OptimizerConfig& optimizer
);

/// Whose rows end with their numbers, where there is a boundary.
program::Program program_of(
    const NativeMlpConfig& model, std::uint64_t rows, const program::Boundary& boundary,
    const program::OptimizerConfig& optimizer
);

/// The optimizer of all of them: AdamW with the numbers of NativeOptimizer.
program::OptimizerConfig adamw();

/// Returns the number of parameters of a program that Adam or AdamW trains: the values that it keeps averages for.
std::uint64_t parameters_of(const program::Program& program);

}  // namespace assay::bench
