// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <core/base/result.hpp>
#include <verifier/sandbox/run.hpp>

namespace assay::sandbox {

/// Where strangers' files are parsed. Set once, before anything is parsed; it holds for the process.
enum class Mode : std::uint8_t {
    kOn = 1,   ///< by assay-parser, restricted
    kOff = 2,  ///< in this process, unrestricted: where the kernel has no seccomp, and under fuzzers
};
void set_mode(Mode mode) noexcept;
Mode mode() noexcept;

/// The name of the program that parses.
inline constexpr const char* kProgramName = "assay-parser";
/// Returns where it lies: in the folder of the running program, in bin/ beside that folder, or where the package of the
/// running program has put it (lib/assay-worker or lib/assay-cli beside that folder).
std::filesystem::path program_path();
/// Has another program take its place, until it is called with an empty path. For tests.
void set_program(std::filesystem::path program);

/// run() with that program.
Result<MappedFile, Refusal> run(const Call& call);

/// Tries the sandbox with a parser that reads nothing. Returns why it does not work; nullopt: it works.
std::optional<Refusal> probe();

}  // namespace assay::sandbox
