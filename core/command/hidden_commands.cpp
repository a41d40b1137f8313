// SPDX-License-Identifier: Apache-2.0
#include <core/command/hidden_commands.hpp>

#include <iostream>
#include <memory>

#include <core/command/command_tree.hpp>
#include <core/command/completion.hpp>
#include <core/command/manual.hpp>

namespace assay::command {
namespace {

/// Ends the parsing, by which every program ends with 0.
[[noreturn]] void print_and_stop(const std::string& text) {
    if (!(std::cout << text).flush()) {
        throw CLI::RuntimeError("standard output could not be written; is the disk full?", 1);
    }
    throw CLI::Success();
}

}  // namespace

void add_hidden_commands(CLI::App& app, const std::string& program) {
    const auto shell = std::make_shared<std::string>();
    CLI::App* const completion = app.add_subcommand("completion", "Print a script that completes this program's words");
    completion->group("");
    completion->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->callback([&app, program, shell] {
        const auto commands = list_commands(app, program);
        print_and_stop(
            *shell == "bash"  ? bash_completion(commands)
            : *shell == "zsh" ? zsh_completion(commands)
                              : fish_completion(commands)
        );
    });
    CLI::App* const manual = app.add_subcommand("manual", "Print the manual page");
    manual->group("");
    manual->callback([&app, program] {
        print_and_stop(manual_page(list_commands(app, program), app.get_description(), ASSAY_VERSION));
    });
}

}  // namespace assay::command
