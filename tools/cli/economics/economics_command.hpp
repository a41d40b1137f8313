// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <tools/economics/report.hpp>

/// What `assay economics` reads and prints.
namespace assay::cli {

/// What a costs file says: it replaces the defaults key by key, tasks all at once.
struct EconomicsFile {
    economics::Costs costs;
    economics::Parameters parameters;
};
/// Without a file the defaults. Throws taskdir::TaskDirectoryError that names the file and the key.
EconomicsFile read_economics_file(const std::filesystem::path& file);

std::string to_text(const economics::Report& report);

}  // namespace assay::cli
