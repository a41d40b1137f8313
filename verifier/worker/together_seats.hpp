// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <vector>

#include <contracts/state/group.hpp>
#include <contracts/state/task.hpp>
#include <contracts/tasks/seats.hpp>
#include <verifier/worker/balance.hpp>
#include <verifier/worker/worker_context.hpp>

/// Who has a seat in a group that computes each step together while it trains (GRP-13): the lead's part.
namespace assay::worker {

/// How many seats each of these accounts has for this segment.
std::vector<std::uint32_t> seat_counts(
    const contracts::Task& task, std::uint32_t segment, const std::vector<AccountId>& accounts
);

/// The list that a lead offers next if nobody comes or goes, where speeds ask for `wanted`; empty if the seats are
/// given so already, or the rules do not allow it.
std::vector<AccountId> balanced_list(const contracts::Task& task, const std::vector<AccountId>& wanted);
/// Those who would have a smaller share of `wanted` than now, and have not signed it.
std::vector<AccountId> who_keeps(
    const contracts::Task& task, const std::vector<AccountId>& wanted, const std::set<AccountId>& signers
);

/// Offers the seats anew where members are gone or others ask to join, and gives them once everybody has signed.
class TogetherSeats {
  public:
    explicit TogetherSeats(WorkerContext& context) : context_(context) {}
    /// Of a task that this worker leads, and that is in training.
    void tend(const contracts::Task& task, std::set<AccountId> gone, const Balance& balance);
    void forget(const contracts::TaskId& task) { returns_.erase(task); }

  private:
    /// A list that takes back what some have too much, since it was asked for.
    struct Return {
        std::vector<AccountId> wanted;
        std::chrono::steady_clock::time_point since;
        std::set<AccountId> signers;
    };
    /// Who does not give back what it has for its speed alone, which nobody saw, is left out.
    void add_keepers(const contracts::Task& task, const Balance& balance, std::set<AccountId>& gone);
    /// Among how many members the steps can be divided, if so many more come; 0 if nobody comes.
    std::size_t seats_to_divide(const contracts::Task& task, std::size_t joining);

    WorkerContext& context_;
    std::map<contracts::TaskId, Return> returns_;
};

}  // namespace assay::worker
