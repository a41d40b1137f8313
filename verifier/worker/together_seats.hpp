// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include <contracts/state/group.hpp>
#include <contracts/state/task.hpp>
#include <contracts/tasks/seats.hpp>
#include <verifier/worker/worker_context.hpp>

/// Who has a seat in a group that computes each step together while it trains (GRP-13): the lead's part.
namespace assay::worker {

/// The accounts that have a seat for this segment and were not convicted, in the order of their first seats, without
/// the lead.
std::vector<AccountId> seated(const contracts::Task& task, std::uint32_t segment);

/// The list that a lead offers next, for the segment after the one in training: without those who are `gone`, and with
/// those who want to join, as far as the rules allow and there are not more than `seats_max` seats. Where somebody is
/// gone the list gets no longer than it was, so that it needs nobody's consent to a smaller share. Empty if nothing is
/// to be changed.
std::vector<AccountId> next_seats(
    const contracts::Task& task, const std::set<AccountId>& gone, const std::vector<AccountId>& joining,
    std::size_t seats_max = contracts::kMaxSeats
);

/// Offers the seats anew where members are gone or others ask to join, and gives them once everybody has signed.
class TogetherSeats {
  public:
    explicit TogetherSeats(WorkerContext& context) : context_(context) {}
    /// Of a task that this worker leads, and that is in training.
    void tend(const contracts::Task& task, const std::set<AccountId>& gone);

  private:
    /// Among how many members the steps can be divided, if so many more come; 0 if nobody comes.
    std::size_t seats_to_divide(const contracts::Task& task, std::size_t joining);

    WorkerContext& context_;
};

}  // namespace assay::worker
