// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::command {

enum class ValueKind : std::uint8_t {
    kNone = 1,    ///< a flag
    kChoice = 2,  ///< one of `choices`
    kNumber = 3,
    kText = 4,  ///< perhaps a file
};

struct Option {
    std::vector<std::string> names;  ///< with their dashes, short ones first; of a positional, its name without any
    std::string description;
    std::string default_text;  ///< empty if the option shows none
    ValueKind value = ValueKind::kNone;
    std::string value_name;            ///< as the help shows it, without the choices; empty for a flag
    std::vector<std::string> choices;  ///< for kChoice
    bool is_required = false;
    bool is_inherited = false;  ///< an option of a command above, which may stand after this one too
};

struct Command {
    std::string path;  ///< the words to type, as in "assay keys new"
    std::string description;
    std::vector<Option> options;
    std::vector<Option> positionals;
    std::vector<std::size_t> subcommands;  ///< indices into the list that this command is in
    std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

/// `app` and all commands below it that help lists: first `app`, called `program`, and each before those below it.
/// Hidden commands and options are left out.
std::vector<Command> list_commands(const CLI::App& app, const std::string& program);

}  // namespace assay::command
