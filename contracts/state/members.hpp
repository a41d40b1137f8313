// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <contracts/state/task.hpp>

/// Who trains a task, and who answers for which part of it (GRP rules). A task without a group has one member, its
/// solver. The functions need a task that has a solver unless they say otherwise.
namespace assay::contracts {

/// The account of the member with this number; 0 is the lead.
AccountId member_account(const Task& task, std::uint8_t number) noexcept;
/// The number of the member; nullopt if the account is none, or the task has no solver.
std::optional<std::uint8_t> find_member(const Task& task, const AccountId& account) noexcept;
/// GRP-3: whether the account is the task's solver or in its group. False for a task without a solver.
bool is_member(const Task& task, const AccountId& account) noexcept;

/// GRP-3: the member whose turn it is to post the checkpoint of this index, or to complete the task after the last one.
AccountId owner_of(const Task& task, std::uint32_t index) noexcept;
/// GRP-5: the account that answers for a segment: who posted its checkpoint, for the evaluation the lead. The
/// checkpoint must have been posted.
AccountId responder_of(const Task& task, std::uint32_t segment) noexcept;
/// GRP-5: the stake of this member that is locked for the task.
Amount& bond_of(Task& task, const AccountId& member) noexcept;
Amount bond_of(const Task& task, const AccountId& member) noexcept;

/// STM-10: whether the member was convicted of a statement, and noting that. The task must have a group.
bool is_culprit(const Task& task, const AccountId& member) noexcept;
void note_culprit(Task& task, const AccountId& member);
/// GRP-7, STM-10: notes that the member was convicted: it earns nothing. The task must have a group.
void note_conviction(Task& task, const AccountId& member);

/// GRP-13: who holds each seat for this segment, by the members' numbers. The task must have a group.
const std::vector<std::uint8_t>& seats_for(const Task& task, std::uint32_t segment) noexcept;
/// GRP-13, GRP-14: the segment that a group that computes together trains now; beyond segment_count() if it has trained
/// all.
std::uint32_t segment_in_training(const Task& task) noexcept;
/// GRP-13: gives the seats anew, from this segment on, which is not before the last time's.
void give_seats(Group& group, std::uint32_t from, std::vector<std::uint8_t> seats);
/// GRP-14: nobody has this member's seats any more, from the segment in training on.
void vacate_seats(Task& task, std::uint8_t number);
/// GRP-14: how often something was demanded of the member, and whether that has ended its seats.
std::size_t times_demanded(const Group& group, std::uint8_t number) noexcept;
bool is_out(const Group& group, std::uint8_t number) noexcept;
bool was_convicted(const Group& group, std::uint8_t number) noexcept;

/// GRP-4: number of blocks that a member has for its turn before others may take it over.
std::uint64_t turn_blocks(const Task& task) noexcept;
/// GRP-4: the member posts the next checkpoint, and takes its seat over if another holds it. Call before the checkpoint
/// is counted. Does nothing to a task without a group.
void note_poster(Task& task, const AccountId& member);

/// The indices of the latest checkpoint, and of the latest that each member of a group posted: whoever posted it has
/// those before it too.
std::vector<std::uint32_t> latest_checkpoints(const Task& task);

/// GRP-7: whether training ended early or the task was cut: not all of the specified segments count.
bool is_shortened(const Task& task) noexcept;

struct Share {
    AccountId account;
    Amount amount;
};
/// GRP-8, SET-7: what each member earns at settlement, without those that were convicted. Their sum is
/// earned_reward().
std::vector<Share> reward_shares(const Task& task);

}  // namespace assay::contracts
