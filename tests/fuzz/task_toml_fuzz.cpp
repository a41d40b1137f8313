// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <contracts/tasks/tasks.hpp>
#include <contracts/params/spec.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <verifier/sandbox/sandbox.hpp>
#include <verifier/taskdir/task_directory.hpp>

/// A task.toml of any content, beside a short text. What is packed is a task that the chain takes.
namespace assay::fuzz {
namespace {

std::filesystem::path make_folder() {
    const auto folder = std::filesystem::temp_directory_path() / ("assay-fuzz-task-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "data.txt") << "to be or not to be, that is the question";
    return folder;
}

}  // namespace

void run(ByteView input) {
    // The file may name any file of the machine as its text; a device among them would never end.
    const std::string_view text = as_text(input);
    if (text.find_first_of("/\\") != std::string_view::npos) {
        return;
    }
    sandbox::set_mode(sandbox::Mode::kOff);  // a fuzzer follows no process that is started
    static const std::filesystem::path kFolder = make_folder();
    static artifacts::ContentStore store(kFolder / "store");
    std::ofstream(kFolder / "task.toml", std::ios::binary) << text;
    try {
        const contracts::TaskSpec spec = taskdir::pack_task(kFolder, store, "http://127.0.0.1:1");
        ASSERT(contracts::check_spec(spec).has_value());
        ASSERT(store.has(spec.program_artifact.sha256) && store.has(spec.dataset_artifact.sha256));
        ASSERT(!spec.evaluation || store.has(spec.evaluation->data.sha256));
    } catch (const taskdir::TaskDirectoryError&) {
    }
}

}  // namespace assay::fuzz
