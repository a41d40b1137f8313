// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tools/demo/demo.hpp>

namespace assay::demo {

/// Says what is wrong with the text of --fraud and what can be given instead; empty if it is a fraud's.
std::string complaint_about_fraud(const std::string& text);

/// Throws std::runtime_error that says which options do not go together, or what is missing.
void check_options(const DemoOptions& given);

/// The options with what follows from others of them. Throws std::runtime_error if CometBFT is not there for a fraud
/// that needs it, or another number of validators is asked for.
DemoOptions as_played(const DemoOptions& options);

}  // namespace assay::demo
