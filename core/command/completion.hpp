// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <core/command/command_tree.hpp>

namespace assay::command {

/// Scripts that complete `commands`, as list_commands returns them: commands, options, and the values of options
/// with choices. Other values are completed as files, numbers not at all.
std::string bash_completion(const std::vector<Command>& commands);  ///< to be sourced
std::string zsh_completion(const std::vector<Command>& commands);   ///< for a folder of $fpath
std::string fish_completion(const std::vector<Command>& commands);  ///< for a folder of $fish_complete_path

}  // namespace assay::command
