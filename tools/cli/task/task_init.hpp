// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>

#include <nlohmann/json.hpp>

#include <tools/cli/task/init_questions.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_build.hpp>

/// `assay task init`: makes a task directory out of answers.
namespace assay::cli {

/// Where answers come from that no flag gives.
struct Dialogue {
    std::istream* in = nullptr;  ///< null: nobody can be asked
    std::ostream* out = nullptr;
    bool takes_defaults = false;  ///< asks nothing that has a default
};

/// Adds to `given` what is missing. Throws Failure kExitUsage if an answer is wrong, is not for the model family, or is
/// missing and cannot be asked for; at the terminal a wrong answer is asked for again.
Answers complete_answers(const Answers& given, const Dialogue& dialogue);

/// A new task.toml, and what lint says about it.
struct NewTask {
    std::filesystem::path file;
    taskdir::BuiltTask built;
    std::vector<taskdir::Finding> findings;  ///< warnings and notes
};

/// Writes task.toml into `directory`, which is made if there is none. Builds the task before: nothing is written unless
/// `assay task lint` has no error about it. Throws Failure kExitConfig with the errors, and kExitFailure if the file
/// cannot be written.
NewTask write_task(const std::filesystem::path& directory, const Answers& answers);

nlohmann::json to_json(const NewTask& task);
std::string new_task_text(const NewTask& task);

}  // namespace assay::cli
