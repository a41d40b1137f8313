// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Whole files. The caller knows what a file is for, so it is the caller who says what is wrong when one cannot be had.
namespace assay::system {

/// The content of `file`, or nullopt when it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& file);

/// Writes `text` over `file`. Returns false when that fails; the file may then hold a part of it.
bool write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::system
