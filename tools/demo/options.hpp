// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/demo/demo.hpp>

namespace assay::demo {

/// Throws std::runtime_error that says which options do not go together, or what is missing.
void check_options(const DemoOptions& options);

/// The number of validators for a double proposal. Throws std::runtime_error if the options ask for another one, or
/// CometBFT is not there.
std::uint32_t validators_of_double_proposal(const DemoOptions& options);

}  // namespace assay::demo
