// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <consensus/solo/block_log.hpp>
#include <tests/fuzz/fuzz.hpp>

/// A log file of any content: opened, refused with BlockLogError, or cut at a torn record.
namespace assay::fuzz {
namespace {

std::filesystem::path scratch_file() {
    const auto folder = std::filesystem::temp_directory_path() / ("assay-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    return folder / "blocks.log";
}

void write(const std::filesystem::path& file, ByteView input) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(as_text(input).data(), static_cast<std::streamsize>(input.size()));
}

/// Height of the log, every record of which can be read; nullopt when it is refused.
std::optional<Height> read_all(const std::filesystem::path& file, solo::BlockLog::Mode mode) {
    try {
        const solo::BlockLog log(file, mode);
        for (std::uint64_t height = 1; height <= log.height().value; ++height) {
            const auto record = log.read(Height{height});
            ASSERT(record.has_value() && record->block.header.height == Height{height});
        }
        return log.height();
    } catch (const solo::BlockLogError&) {
        return std::nullopt;
    }
}

}  // namespace

void run(ByteView input) {
    static const std::filesystem::path kFile = scratch_file();
    write(kFile, input);
    const auto height = read_all(kFile, solo::BlockLog::Mode::kReadOnly);
    if (height) {
        // Appending may cut the torn tail off, and must then find the same blocks.
        ASSERT(read_all(kFile, solo::BlockLog::Mode::kAppend) == height);
        ASSERT(read_all(kFile, solo::BlockLog::Mode::kReadOnly) == height);
    }
    std::filesystem::remove_all(kFile.parent_path());
    std::filesystem::create_directories(kFile.parent_path());
}

}  // namespace assay::fuzz
