// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <contracts/state/group.hpp>
#include <contracts/state/task.hpp>
#include <contracts/tasks/seats.hpp>

/// Who takes part in a group that computes each step together while it trains: what its lead decides, and what the
/// others sign (GRP-13, GRP-14).
namespace assay::roles {

/// The accounts that have a seat for this segment and were not convicted, in the order of their first seats, without
/// the lead.
std::vector<AccountId> seated(const contracts::Task& task, std::uint32_t segment);

/// The list that a lead offers next, for the segment after the one in training: without those who are `gone`, and with
/// those who want to join, as far as the rules allow and there are not more than `members_max` members. Where somebody
/// is gone the list gets no longer than it was, so that it needs nobody's consent to a smaller share. Where somebody
/// joins each member has one seat, since nobody knows yet how fast who joins is. Empty if nothing is to be changed.
std::vector<AccountId> next_seats(
    const contracts::Task& task, const std::set<AccountId>& gone, const std::vector<AccountId>& joining,
    std::size_t members_max = contracts::kMaxSeats
);

/// What an account asks of the seats that it signs for a task that is trained already.
struct SeatWishes {
    bool admits = false;          ///< others may join and take a part of its share
    std::uint32_t share_min = 0;  ///< the least share, in hundredths of an equal one
};

/// Whether the seats are the lead's to give, count in time, and have one of `self`.
bool are_offered(const contracts::Task& task, const contracts::SeatsTerms& terms, const AccountId& self);
/// Whether the share of `self` is one that it signs. Who joins takes a part of the others' pay. Who has more than an
/// equal share gives it back without being told to.
bool is_fair_share(
    const contracts::Task& task, const std::vector<AccountId>& seats, const AccountId& self, const SeatWishes& wishes
);

/// Whom a lead has lost in its sessions: who left or did not come twice takes part in no further one.
class Losses {
  public:
    /// Returns how often it was lost.
    std::uint32_t note(const AccountId& member) { return ++lost_[member]; }
    /// Leaves it out from now on, as who was convicted.
    void leave_out(const AccountId& member) { lost_[member] = kLossesMax; }
    bool is_left_out(const AccountId& member) const;
    std::set<AccountId> left_out() const;
    /// GRP-14: whether a lead that demands does so at the loss of this number; a third one would be refused.
    static bool is_demanded(std::uint32_t losses) { return losses <= contracts::kDemandsToLeave; }

    static constexpr std::uint32_t kLossesMax = 2;

  private:
    std::map<AccountId, std::uint32_t> lost_;
};

}  // namespace assay::roles
