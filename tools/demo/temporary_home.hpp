// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include <core/system/temporary_directory.hpp>

namespace assay::demo {

/// The directory in which a demo's processes have their homes: one that the user gave, which stays, or a temporary one,
/// which is removed with the object.
class TemporaryHome {
  public:
    /// Throws std::runtime_error if the given directory is not empty, or none can be made.
    explicit TemporaryHome(const std::optional<std::filesystem::path>& given);

    const std::filesystem::path& path() const { return path_; }
    /// Leaves the directory in place: after a failure somebody wants to read the logs.
    void keep() {
        if (temporary_) {
            temporary_->keep();
        }
    }

  private:
    std::filesystem::path path_;
    std::optional<system::TemporaryDirectory> temporary_;  ///< unless one was given
};

}  // namespace assay::demo
