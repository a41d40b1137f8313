// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace assay::system {

/// A file cannot be locked.
class LockError : public std::runtime_error {
  public:
    LockError(const std::string& message, std::optional<std::string> holder)
        : std::runtime_error(message), holder_(std::move(holder)) {}
    /// If another process holds the lock: that process, as "process 17", or "another process" if it left no number.
    const std::optional<std::string>& holder() const { return holder_; }

  private:
    std::optional<std::string> holder_;
};

/// Keeps a directory to one process: an exclusive lock on a file in it, into which the holder writes its process id.
/// The lock is released by the destructor and whenever the process ends.
class FileLock {
  public:
    /// Locks the file, which is created if there is none. Throws LockError, at once if another process holds the lock.
    explicit FileLock(const std::filesystem::path& file);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    int descriptor_ = -1;
};

}  // namespace assay::system
