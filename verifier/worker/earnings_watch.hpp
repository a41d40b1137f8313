// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <client/earnings.hpp>
#include <contracts/state/history.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// What one task paid to an account and took from it, by reason.
struct TaskTally {
    std::map<std::string, Amount> paid{};
    std::map<std::string, Amount> slashed{};
    bool is_empty() const { return paid.empty() && slashed.empty(); }
};
TaskTally tally_of(const std::vector<contracts::HistoryRecord>& history, const AccountId& account);

/// The role that is paid for this reason; `own` if it does not follow from the reason.
std::string paid_role(const std::string& reason, contracts::Role own);

/// Returns "19.2 ASY (reward), 1.5 ASY (won_dispute)", or "nothing".
std::string in_words(const std::map<std::string, Amount>& by_reason);

/// Reports what the account is paid, by which task and in which role, and what remains of it. All payments to the
/// account count, also those to another worker of it.
class EarningsWatch {
  public:
    explicit EarningsWatch(WorkerContext& context);
    /// Looks for new payments now and then, those in blocks after the first look. Reports a node that answers with an
    /// error; throws http::NetError.
    void look();
    /// Reports how the task ended for this account, if it worked on it. Call before the journal forgets the task.
    /// Throws http::NetError.
    void report_end(const contracts::Task& task);
    /// Reports the last payments and the sum. Fails silently: the worker is about to end.
    void finish();

  private:
    void read(std::size_t pages_max);
    void report_sum();
    bool has_worked_on(const contracts::Task& task) const;

    WorkerContext& context_;
    Height since_;                                    ///< height at the first look
    std::optional<client::EarningsReader> reader_{};  ///< since the first look
    std::optional<std::chrono::steady_clock::time_point> looked_at_{};
    std::chrono::steady_clock::time_point summed_at_;
    client::Earnings summed_{};  ///< as reported last
};

}  // namespace assay::worker
