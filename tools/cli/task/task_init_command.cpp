// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <tools/cli/common/add_command.hpp>
#include <tools/cli/task/task_init.hpp>
#include <verifier/taskdir/task_file.hpp>

namespace assay::cli {
namespace {

struct InitArguments {
    std::string directory;
    Answers answers;
    bool takes_defaults = false;
    bool overwrites = false;
};

int run_init(const Session& session, const InitArguments& a) {
    const std::string file = taskdir::task_file_name(a.directory);
    std::error_code ignored;
    if (!a.overwrites && std::filesystem::exists(file, ignored)) {
        throw Failure(kExitUsage, "exists", file + " exists; --force overwrites it");
    }
    Dialogue dialogue{.out = &std::cerr, .takes_defaults = a.takes_defaults};
    if (::isatty(STDIN_FILENO) == 1) {
        dialogue.in = &std::cin;
    }
    const NewTask task = write_task(a.directory, complete_answers(a.answers, dialogue));
    session.print(to_json(task), new_task_text(task));
    return kExitOk;
}

/// What --help says of a flag: each prompt, with the families that are asked so.
std::map<std::string, std::string> help_of_flags() {
    std::map<std::string, std::string> out;
    for (const Question& question : questions()) {
        std::string families;
        for (const std::string& family : question.models) {
            families += (families.empty() ? " (" : ", ") + family;
        }
        std::string& help = out[question.name];
        help += (help.empty() ? "" : "; ") + question.prompt + families + (families.empty() ? "" : ")");
        for (std::size_t i = 0; i < question.choices.size(); ++i) {
            help += (i == 0 ? ": " : ", ") + question.choices[i];
        }
        if (!question.otherwise.empty()) {
            help += " [" + question.otherwise + "]";
        }
    }
    return out;
}

}  // namespace

void add_task_init_command(CLI::App& group, Session& session) {
    auto a = std::make_shared<InitArguments>();
    CLI::App* const init = add_command(
        group, session, "init", "Make a task directory by asking; every answer may be given as an option", a, run_init
    );
    init->add_option("directory", a->directory, "The directory; made when missing")->required();
    for (const auto& [flag, help] : help_of_flags()) {
        const std::string name = flag;  // clang 14 captures no structured binding
        init->add_option_function<std::string>(
            "--" + name, [a, name](const std::string& answer) { a->answers[name] = answer; }, help
        );
    }
    init->add_flag("-y,--yes", a->takes_defaults, "Take the default of each answer that is not given");
    init->add_flag("--force", a->overwrites, "Overwrite the task.toml that is there");
}

}  // namespace assay::cli
