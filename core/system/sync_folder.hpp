// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace assay::system {

/// Makes the names in `folder` survive a loss of power; an empty path is the current folder. Returns false, with errno,
/// on failure.
bool sync_folder(const std::filesystem::path& folder);

}  // namespace assay::system
