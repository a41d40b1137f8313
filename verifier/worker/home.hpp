// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include <core/system/file_lock.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/worker/options.hpp>

namespace assay::worker {

/// One worker per home: two would answer for one key, and post two answers to one question.
class HomeLock {
  public:
    /// Makes the directory if there is none. Throws JournalError if another worker uses it.
    explicit HomeLock(const std::filesystem::path& home);

  private:
    std::optional<system::FileLock> lock_;
};

/// How a worker fetches, with the credentials of its environment. Throws FileError if those are wrong.
artifacts::FetcherOptions fetching_of(const WorkerOptions& options);

}  // namespace assay::worker
