// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <tools/economics/report.hpp>

/// The input file and the output of `assay economics`.
namespace assay::cli {

/// The contents of a costs file. It overrides the defaults key by key, but replaces the list of tasks as a whole.
struct EconomicsFile {
    economics::Costs costs;
    economics::Parameters parameters;
};
/// Reads a costs file; returns the defaults if there is none. Throws taskdir::TaskDirectoryError that names the file
/// and the key.
EconomicsFile read_economics_file(const std::filesystem::path& file);

std::string to_text(const economics::Report& report);

}  // namespace assay::cli
