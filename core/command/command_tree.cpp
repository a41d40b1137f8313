// SPDX-License-Identifier: Apache-2.0
#include <core/command/command_tree.hpp>

#include <cstddef>
#include <deque>
#include <utility>

namespace assay::command {
namespace {

/// CLI11 has the members of an IsMember only in the text of the type: "TEXT:{text,json}".
std::vector<std::string> choices_in(const std::string& type) {
    const std::size_t from = type.find('{');
    const std::size_t to = type.find('}', from);
    if (from == std::string::npos || to == std::string::npos) {
        return {};
    }
    return CLI::detail::split(type.substr(from + 1, to - from - 1), ',');
}

Option to_option(const CLI::Option& from) {
    Option out;
    if (from.nonpositional()) {
        for (const std::string& name : from.get_snames()) {
            out.names.push_back("-" + name);
        }
        for (const std::string& name : from.get_lnames()) {
            out.names.push_back("--" + name);
        }
    } else {
        out.names.push_back(from.get_name(true));
    }
    out.description = from.get_description();
    out.is_required = from.get_required();
    if (from.get_items_expected_max() == 0) {
        return out;
    }
    const std::string type = from.get_type_name();
    out.default_text = from.get_default_str();
    out.value_name = type.substr(0, type.find(':'));
    out.choices = choices_in(type);
    const bool is_number = out.value_name == "UINT" || out.value_name == "INT" || out.value_name == "FLOAT";
    out.value = !out.choices.empty() ? ValueKind::kChoice : is_number ? ValueKind::kNumber : ValueKind::kText;
    return out;
}

void add_options(Command& command, const CLI::App& app, bool is_inherited) {
    for (const CLI::Option* const option : app.get_options()) {
        if (option->get_group().empty() ||
            (is_inherited && (!option->nonpositional() || option == app.get_help_ptr()))) {
            continue;
        }
        auto& list = option->nonpositional() ? command.options : command.positionals;
        list.push_back(to_option(*option));
        list.back().is_inherited = is_inherited;
    }
}

}  // namespace

std::vector<Command> list_commands(const CLI::App& app, const std::string& program) {
    std::vector<Command> out;
    struct Pending {
        const CLI::App* app;
        std::string path;
        std::size_t parent;
    };
    std::deque<Pending> pending{{&app, program, 0}};
    while (!pending.empty()) {
        const Pending next = std::move(pending.front());
        pending.pop_front();
        const std::size_t self = out.size();
        Command command;
        command.path = next.path;
        command.description = next.app->get_description();
        add_options(command, *next.app, false);
        for (const CLI::App* above = next.app; above->get_fallthrough() && above->get_parent() != nullptr;) {
            above = above->get_parent();
            add_options(command, *above, true);
        }
        out.push_back(std::move(command));
        if (self > 0) {
            out[next.parent].subcommands.push_back(self);
        }
        std::deque<Pending> below;
        for (const CLI::App* const child : next.app->get_subcommands([](const CLI::App*) { return true; })) {
            if (!child->get_name().empty() && !child->get_group().empty()) {
                below.push_back({child, next.path + " " + child->get_name(), self});
            }
        }
        pending.insert(pending.begin(), below.begin(), below.end());  // depth first, as a manual lists them
    }
    return out;
}

}  // namespace assay::command
