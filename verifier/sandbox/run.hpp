// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/sandbox/limits.hpp>
#include <verifier/sandbox/memory_file.hpp>
#include <verifier/sandbox/refusal.hpp>

/// Parses what strangers wrote in a process that can do nothing else (docs/adr/098-parsers-in-a-sandbox.md). Whatever
/// happens there is a Refusal here.
namespace assay::sandbox {

/// A file that a parser may read. The descriptor stays the caller's.
struct InputFile {
    int descriptor = -1;
    std::uint64_t size_bytes = 0;
};

struct Call {
    std::string parser;
    Bytes config{};
    std::vector<InputFile> files{};
    Limits limits{};
};

/// Has the program at `program` carry out a call, and returns its answer as it is: it may be anything, so whoever takes
/// it checks it. Blocks until the parser has ended or was ended. Thread-safe.
Result<MappedFile, Refusal> run(const std::filesystem::path& program, const Call& call);

}  // namespace assay::sandbox
