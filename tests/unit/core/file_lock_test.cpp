// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <core/system/file_lock.hpp>

namespace assay::system {
namespace {

TEST_CASE("a locked file is refused with its holder, and free again when the holder has gone") {
    const auto home = std::filesystem::temp_directory_path() / ("assay-lock-" + std::to_string(::getpid()));
    std::filesystem::create_directories(home);
    {
        const FileLock lock(home / "lock");
        std::string line;
        std::getline(std::ifstream(home / "lock"), line);
        CHECK(line == std::to_string(::getpid()));
        try {
            const FileLock second(home / "lock");
            FAIL("locked twice");
        } catch (const LockError& error) {
            CHECK(error.holder() == "process " + std::to_string(::getpid()));
        }
        // The file of a holder that left no number.
        std::filesystem::resize_file(home / "lock", 0);
        try {
            const FileLock second(home / "lock");
            FAIL("locked twice");
        } catch (const LockError& error) {
            CHECK(error.holder() == "another process");
        }
    }
    CHECK_NOTHROW(FileLock(home / "lock"));
    std::filesystem::remove_all(home);
    // Without a directory there is nothing to lock, and nobody who holds it.
    try {
        const FileLock lock(home / "lock");
        FAIL("locked a file in no directory");
    } catch (const LockError& error) {
        CHECK_FALSE(error.holder().has_value());
    }
}

}  // namespace
}  // namespace assay::system
