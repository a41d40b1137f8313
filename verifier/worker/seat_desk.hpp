// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <contracts/tasks/seats.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/ids.hpp>

/// Where the accounts of a group sign its seats before its lead accepts a task (GRP-2), or gives them anew (GRP-13): at
/// the lead's artifact server, so that only the lead needs an address. GET /seats/<task> returns {"lead", "seats"},
/// accounts as 64 hex digits, whether they compute each step "together" (GRP-11), and "from" (GRP-13), or status 404;
/// POST /seats/<task>/<account> takes a signature as 128 hex digits; POST /seats/<task>/<account>/join a request,
/// sealed by the account, to become a member of a group that trains already.
namespace assay::worker {

/// What a lead offers, and who has signed. Thread-safe.
class SeatDesk {
  public:
    /// Offers seats of a task, in the place of what was offered of it before. `claim` is what partners sign.
    void offer(const contracts::SeatsTerms& terms, const Hash256& claim);
    /// The signatures of all partners, in the order of their first seats; nothing if one is missing.
    std::optional<std::vector<Signature>> signatures(const contracts::TaskId& task) const;
    /// Those that have signed what is offered, in the order of their first seats.
    std::vector<AccountId> signers(const contracts::TaskId& task) const;
    /// Ends the offer.
    void withdraw(const contracts::TaskId& task);
    /// Lets these accounts ask to join the task's group from now on.
    void expect(const contracts::TaskId& task, const std::vector<AccountId>& accounts);
    /// Those that have asked within the last minute, in the order in which they are expected.
    std::vector<AccountId> joining(const contracts::TaskId& task) const;
    void forget(const contracts::TaskId& task);

    /// Answers a partner's request; nothing if it is about something else. What is no signature of a partner for this
    /// offer is refused and changes nothing.
    std::optional<http::HttpResponse> answer(const http::HttpRequest& request);

  private:
    struct Offer {
        contracts::SeatsTerms terms;
        std::vector<AccountId> partners;
        Hash256 claim;
        std::map<AccountId, Signature> signatures;
    };
    struct Door {
        std::vector<AccountId> expected;
        std::map<AccountId, std::chrono::steady_clock::time_point> asked;
    };
    http::HttpResponse take(Offer& offer, const std::string& account, const std::string& body);
    http::HttpResponse knock(const contracts::TaskId& task, const std::string& account, const std::string& body);

    mutable std::mutex mutex_;
    std::map<contracts::TaskId, Offer> offers_;
    std::map<contracts::TaskId, Door> doors_;
};

/// The path of the offers of a task at a lead's artifact server.
std::string seats_path(const contracts::TaskId& task);
/// What an account sends to join, for POST.
std::string join_request(const crypto::SecretKey& key, const contracts::TaskId& task);

}  // namespace assay::worker
