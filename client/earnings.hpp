// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <client/rpc_client.hpp>

namespace assay::client {

/// What an account was paid by tasks, lost and spent, on the node's word.
struct Earnings {
    std::map<std::string, Amount> paid;     ///< out of escrows, bonds and the treasury, by reason (SET rules)
    std::map<std::string, Amount> slashed;  ///< by reason
    Amount fees;                            ///< of the transactions that the account sent
    std::uint64_t transactions = 0;         ///< those with a fee
    Amount total_paid() const;
    Amount total_slashed() const;
    bool operator==(const Earnings&) const = default;
};

/// One payment by a task.
struct TaskPayment {
    std::string task;  ///< its id in hex
    std::string reason;
    Amount amount;
    std::uint64_t height = 0;
};

/// Adds up what `account_payments`, `event_list` and `account_history` list of an account, and goes on later where it
/// has stopped.
class EarningsReader {
  public:
    /// Calls a method of the node; RpcClient::call, or a test's.
    using Call = std::function<nlohmann::json(const std::string& method, const nlohmann::json& params)>;

    /// Counts what is in blocks above `since`.
    EarningsReader(const AccountId& account, Height since);

    /// Reads at most `pages_max` pages of each listing. Returns false if there is more to read. Throws RpcError
    /// "bad_answer" if an answer cannot be understood, and what `call` throws; what was read until then counts.
    bool read(const Call& call, std::size_t pages_max);
    const Earnings& earnings() const { return earnings_; }
    /// Returns the payments by tasks that were read since the last call.
    std::vector<TaskPayment> take_payments();

  private:
    struct Place {
        nlohmann::json cursor{};  ///< of the page that is read next; null: the first
        std::size_t seen = 0;     ///< so many of its items are counted
    };
    /// Counts the items of one listing from `place` on. Returns false if there are more pages.
    bool read_listing(
        const Call& call, const std::string& method, const char* items, Place& place, std::size_t pages_max,
        const std::function<void(const nlohmann::json&)>& count
    );

    const std::string account_;  ///< its address
    const Height since_;
    Earnings earnings_;
    std::vector<TaskPayment> payments_;
    Place paid_;
    Place slashed_;
    Place sent_;
};

}  // namespace assay::client
