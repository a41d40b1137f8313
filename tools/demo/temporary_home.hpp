// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace assay::demo {

/// The directory in which a demo's processes have their homes: one that the user gave, which stays, or a temporary one,
/// which is removed with the object.
class TemporaryHome {
  public:
    /// Throws std::runtime_error if the given directory is not empty, or none can be made.
    explicit TemporaryHome(const std::optional<std::filesystem::path>& given);
    ~TemporaryHome();
    TemporaryHome(const TemporaryHome&) = delete;
    TemporaryHome& operator=(const TemporaryHome&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Leaves the directory in place: after a failure somebody wants to read the logs.
    void keep() { kept_ = true; }

  private:
    std::filesystem::path path_;
    bool kept_;
};

}  // namespace assay::demo
