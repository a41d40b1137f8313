// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace assay::command {

/// What is wrong with the arguments that `app` has refused. Arguments that nobody expects are listed in the order in
/// which they were typed, which CLI11 reverses.
std::string text_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace assay::command
