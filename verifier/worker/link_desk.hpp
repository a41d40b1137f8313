// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <contracts/state/ids.hpp>
#include <verifier/cell/meeting.hpp>

/// Where the members of a group that computes each step together (GRP-11) find each other: at the lead's artifact
/// server, so that nobody needs to know where anybody but the lead is. POST /links/<task>/seat, /get and /set take
/// requests that a member has signed.
namespace assay::worker {

/// The path of a task's meeting at a lead's artifact server.
std::string links_path(const contracts::TaskId& task);

/// The meetings of the tasks that this worker leads. Thread-safe.
class LinkDesk {
  public:
    /// The meeting of a task whose other members are `partners`; made when it is first asked for.
    std::shared_ptr<cell::Meeting> meeting(const contracts::TaskId& task, const std::vector<AccountId>& partners);
    void forget(const contracts::TaskId& task);
    /// Answers a member's request; nothing if it is about something else.
    std::optional<http::HttpResponse> answer(const http::HttpRequest& request) const;

  private:
    mutable std::mutex mutex_;
    std::map<contracts::TaskId, std::shared_ptr<cell::Meeting>> meetings_;
};

}  // namespace assay::worker
