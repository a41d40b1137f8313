// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <verifier/artifacts/file.hpp>

namespace assay::taskdir {

/// A file of a task directory, mapped into memory. Throws TaskDirectoryError if it cannot be read; folders, pipes and
/// devices cannot.
artifacts::StoredFile open_file(const std::filesystem::path& path);

}  // namespace assay::taskdir
