// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

/// What the command lines of the programs have in common and packages need.
namespace assay::command {

/// Adds two subcommands that --help does not list: `completion bash|zsh|fish` prints a script that completes the
/// commands and options of `app`, and `manual` a manual page for section 1. Both describe `app` as it is when they are
/// run, print to standard output and end parsing with CLI::Success. `program` is the name that users type.
void add_hidden_commands(CLI::App& app, const std::string& program);

}  // namespace assay::command
