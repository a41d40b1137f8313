// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <contracts/state/task.hpp>
#include <contracts/tasks/actions/task_actions.hpp>
#include <contracts/tasks/seats.hpp>
#include <verifier/worker/defence_desk.hpp>
#include <verifier/worker/offers.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// How a solver gets into groups (GRP-2): as a lead it has its partners sign before it accepts; as a partner it asks
/// its lead for seats, and signs them, while the group trains as well (GRP-13).
class Seating {
  public:
    explicit Seating(WorkerContext& context) : context_(context) {}

    /// The acceptance of a task that was drawn for us, with the partners' signatures. Those that do not sign in a
    /// quarter of the time that there is are left out. Alone if there are no partners, the task admits no such group,
    /// our stake is less than a member's bond, or nobody signs in half of the time. nullopt while they may still.
    std::optional<contracts::AcceptTask> acceptance(const contracts::Task& task);
    /// Signs seats of a task that was drawn for our lead or that its group trains, if we can answer for them; asks to
    /// join where it trains without us. Returns whether it has signed.
    bool sign_one(const OfferDesk& offers, DefenceDesk& defence);
    void forget(const contracts::TaskId& task);

  private:
    /// GRP-11: among how many members, of so many, the task's steps can be divided as a lead is told to; 0 if among
    /// none, or if the program is not there yet. Says so if it is not all.
    std::size_t members_to_divide(const contracts::Task& task, std::size_t members);
    Amount member_bond_of(const contracts::Task& task) const;
    bool is_open(const contracts::Task& task, const OfferDesk& offers);
    bool may_join(const contracts::Task& task, const OfferDesk& offers);
    bool sign_seat(const contracts::Task& task, const std::string& lead_url, DefenceDesk& defence);
    /// The seats that the lead at `lead_url` offers, if they are its own to give and one of them is ours.
    std::optional<contracts::SeatsTerms> ask(const contracts::Task& task, const std::string& lead_url);
    /// Signs them. Returns whether the lead has taken the signature.
    bool sign(const contracts::SeatsTerms& terms, const std::string& lead_url, const Hash256& claim);
    /// Asks to join a group that trains.
    void ask_to_join(const contracts::Task& task, const std::string& lead_url);

    WorkerContext& context_;
    std::map<contracts::TaskId, std::vector<AccountId>> refused_;  ///< seats that were not signed last
    std::map<contracts::TaskId, Hash256> signed_;                  ///< the claim that was signed last
    std::map<contracts::TaskId, std::uint64_t> asked_at_;          ///< block height
    std::map<contracts::TaskId, std::vector<AccountId>> there_;    ///< partners that had signed when time was short
};

}  // namespace assay::worker
