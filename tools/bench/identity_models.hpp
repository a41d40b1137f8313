// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <verifier/compile/program/program.hpp>

namespace assay::bench {

/// A model whose roots identity.json has.
struct IdentityModel {
    std::string name;
    program::Program program;
    std::uint32_t limit = 0;  ///< of the dataset's values
};
/// Returns an MLP, a CNN with batch normalisation, a GPT and a Llama, the last two with dropout. All are trained by
/// AdamW with gradients that are clipped, and small: they take a second in an emulator.
std::vector<IdentityModel> identity_models();

}  // namespace assay::bench
