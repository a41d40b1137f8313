// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <verifier/artifacts/store.hpp>

namespace assay::test {

/// The file of a store that has chunks of a dataset, of which there is one.
inline std::filesystem::path file_of_chunks(const artifacts::ContentStore& store) {
    constexpr std::size_t kRootDigits = 64;
    for (const auto& entry : std::filesystem::directory_iterator(store.directory() / "partial")) {
        const std::string name = entry.path().filename().string();
        if (name[name.size() - kRootDigits - 1] == 'c') {
            return entry.path();
        }
    }
    FAIL("no chunks are stored");
    return {};
}

}  // namespace assay::test
