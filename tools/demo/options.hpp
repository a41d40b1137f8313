// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/demo/demo.hpp>

namespace assay::demo {

/// Throws std::runtime_error that says which options do not go together, or what is missing.
void check_options(const DemoOptions& options);

/// The options with what follows from others of them. Throws std::runtime_error if CometBFT is not there for a fraud
/// that needs it, or another number of validators is asked for.
DemoOptions as_played(const DemoOptions& options);

}  // namespace assay::demo
