// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/result.hpp>
#include <verifier/compile/program/optimizer.hpp>
#include <verifier/compile/program/program.hpp>

/// Moments that a state holds in fewer bytes than a step computes with (docs/protocol/programs.md).
namespace assay::program {

/// Elements of a block of moments that share one exponent.
inline constexpr std::uint32_t kMomentBlock = 256;
/// Moments with fewer elements stay f32 where the others become int8: their blocks would hardly be smaller.
inline constexpr std::uint64_t kMinInt8Elements = 4'096;

/// Whether the tensor of this name is a moment of a parameter that is in the state too.
bool is_moment(const StateTensor& tensor, const std::vector<StateTensor>& state);

enum class [[nodiscard]] MomentsError : std::uint8_t{
    kNone = 1,    ///< the program has no moments
    kLimits = 2,  ///< more state tensors or nodes than a program may have (PRG-4, PRG-6)
    kNames = 3,   ///< a state tensor has the name of one that is to be added
};

/// Returns `program`, which has to pass check_program, with the moments of its optimizer stored as config.moments says.
/// The state tensors keep their places; exponents follow behind them.
Result<Program, MomentsError> with_narrow_moments(const Program& program, const OptimizerConfig& config);

}  // namespace assay::program
