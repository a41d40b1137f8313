// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <core/base/bytes.hpp>
#include <contracts/state/ids.hpp>

/// Where the accounts of a group sign its seats (GRP-2) before its lead accepts a task: at the lead's artifact server,
/// so that only the lead needs an address. GET /seats/<task> returns {"lead", "seats"}, accounts as 64 hex
/// digits, and whether they compute each step "together" (GRP-11), or status 404, and POST /seats/<task>/<account>
/// takes a signature as 128 hex digits.
namespace assay::worker {

/// What a lead offers, and who has signed. Thread-safe.
class SeatDesk {
  public:
    /// Offers seats of a task, unless they are offered already. `claim` is what partners sign.
    void offer(
        const contracts::TaskId& task, const std::vector<AccountId>& seats, bool is_together, const Hash256& claim
    );
    /// The signatures of all partners, in the order of their first seats; nothing if one is missing.
    std::optional<std::vector<Signature>> signatures(const contracts::TaskId& task) const;
    void forget(const contracts::TaskId& task);

    /// Answers a partner's request; nothing if it is about something else. What is no signature of a partner for this
    /// offer is refused and changes nothing.
    std::optional<http::HttpResponse> answer(const http::HttpRequest& request);

  private:
    struct Offer {
        std::vector<AccountId> seats;
        std::vector<AccountId> partners;
        bool is_together = false;
        Hash256 claim;
        std::map<AccountId, Signature> signatures;
    };
    http::HttpResponse take(Offer& offer, const std::string& account, const std::string& body);

    mutable std::mutex mutex_;
    std::map<contracts::TaskId, Offer> offers_;
};

}  // namespace assay::worker
