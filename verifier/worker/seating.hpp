// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <contracts/state/task.hpp>
#include <contracts/tasks/actions/task_actions.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// What a lead offers.
struct OfferedSeats {
    std::vector<AccountId> seats;
    bool is_together = false;  ///< GRP-11
};

/// How a solver gets into groups (GRP-2): as a lead it has its partners sign before it accepts; as a partner it asks
/// its lead for seats, and signs them.
class Seating {
  public:
    explicit Seating(WorkerContext& context) : context_(context) {}

    /// The acceptance of a task that was drawn for us, with the partners' signatures; alone if there are no partners,
    /// the task admits no such group, our stake is less than a member's bond, or they do not sign in half of the time
    /// that there is. nullopt while they may still.
    std::optional<contracts::AcceptTask> acceptance(const contracts::Task& task);
    /// Signs seats of a task that was drawn for our lead, if we can answer for them. Returns whether it did.
    bool sign_one(const OfferDesk& offers);
    void forget(const contracts::TaskId& task);

  private:
    /// GRP-11: whether the task's steps can be divided as a lead is told to; says so if not.
    bool can_divide(const contracts::Task& task);
    Amount member_bond_of(const contracts::Task& task) const;
    bool may_sign(const contracts::Task& task, const OfferDesk& offers);
    bool sign_seat(const contracts::Task& task, const std::string& lead_url);
    /// The seats that the lead at `lead_url` offers of a drawn task, if they are its own to give and one of them is
    /// ours.
    std::optional<OfferedSeats> ask(const contracts::Task& task, const std::string& lead_url);
    /// Signs them. Returns whether the lead has taken the signature.
    bool sign(const contracts::Task& task, const std::string& lead_url, const OfferedSeats& offered);

    WorkerContext& context_;
    std::set<contracts::TaskId> signed_;
    std::map<contracts::TaskId, std::uint64_t> asked_at_;  ///< block height
};

}  // namespace assay::worker
