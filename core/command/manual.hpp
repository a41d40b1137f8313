// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <core/command/command_tree.hpp>

namespace assay::command {

/// A manual page of section 1, in troff with the `man` macros, of `commands` as list_commands returns them.
std::string manual_page(
    const std::vector<Command>& commands, const std::string& description, const std::string& version
);

}  // namespace assay::command
