// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <client/http/http.hpp>
#include <core/crypto/keys.hpp>
#include <verifier/artifacts/claimed_losses.hpp>

namespace assay::worker {

/// The losses of the tasks that a solver trains, for those who want to watch the training: a file for each task in the
/// home, and GET /losses/<task> on the artifact server. Thread-safe. What cannot be written is only not served after a
/// restart: no duty depends on it.
class Losses {
  public:
    /// What another key has signed in this home is not taken over, unless `is_operator`: an owner's operators follow
    /// each other.
    Losses(std::filesystem::path directory, const crypto::SecretKey& key, bool is_operator = false);
    /// Notes the loss of a segment's last step. A segment that was noted before is replaced, and those after it go.
    void note(const contracts::TaskId& task, const artifacts::ClaimedLoss& loss);
    /// Answers a request for a task's losses; nullopt if the request is about something else.
    std::optional<http::HttpResponse> answer(const http::HttpRequest& request);
    void forget(const contracts::TaskId& task);

  private:
    std::vector<artifacts::ClaimedLoss>& of(const contracts::TaskId& task);
    std::filesystem::path file_of(const contracts::TaskId& task) const;

    std::filesystem::path directory_;
    const crypto::SecretKey& key_;
    const bool is_operator_;
    std::mutex mutex_;
    std::map<contracts::TaskId, std::vector<artifacts::ClaimedLoss>>
        losses_;  ///< of tasks that were asked for or noted
};

}  // namespace assay::worker
