// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/sandbox.hpp>

#include <atomic>
#include <mutex>
#include <system_error>
#include <utility>

namespace assay::sandbox {
namespace {

std::atomic<Mode> current{Mode::kOn};
std::mutex other_mutex;
std::filesystem::path other_program;  // guarded by other_mutex

}  // namespace

void set_mode(Mode mode) noexcept { current = mode; }

Mode mode() noexcept { return current; }

std::filesystem::path program_path() {
    {
        const std::lock_guard lock(other_mutex);
        if (!other_program.empty()) {
            return other_program;
        }
    }
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path folder = self.parent_path();
    const bool is_worker = self.filename() == "assay-worker";
    const std::filesystem::path above = folder.parent_path();
    for (const std::filesystem::path& place :
         {folder, above / "bin", above / "lib" / (is_worker ? "assay-worker" : "assay-cli")}) {
        if (std::filesystem::exists(place / kProgramName, error)) {
            return place / kProgramName;
        }
    }
    return folder / kProgramName;
}

void set_program(std::filesystem::path program) {
    const std::lock_guard lock(other_mutex);
    other_program = std::move(program);
}

Result<MappedFile, Refusal> run(const Call& call) { return run(program_path(), call); }

std::optional<Refusal> probe() {
    const auto answer = run({.parser = "nothing"});
    return answer ? std::nullopt : std::optional(answer.error());
}

}  // namespace assay::sandbox
