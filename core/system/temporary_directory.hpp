// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace assay::system {

/// A new directory that only this user can enter. The destructor removes it with all that is in it then, unless keep()
/// was called; a process that is killed leaves it behind.
class TemporaryDirectory {
  public:
    /// Makes it in `parent`; if that is empty, where the system has temporary files (TMPDIR, or /tmp). Its own name
    /// begins with `name`. Throws std::runtime_error, which says what to do, if it cannot be made.
    explicit TemporaryDirectory(std::string_view name, const std::filesystem::path& parent = {});
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Leaves it in place, for somebody to look at.
    void keep() { is_kept_ = true; }

  private:
    std::filesystem::path path_;
    bool is_kept_ = false;
};

}  // namespace assay::system
