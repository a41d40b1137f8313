// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Reading and writing whole files. Callers report errors, because they know what the file is for.
namespace assay::system {

/// The content of `file`; nullopt if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& file);

/// Overwrites `file` with `text`. Returns false on failure; the file may then contain a part of it.
bool write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::system
