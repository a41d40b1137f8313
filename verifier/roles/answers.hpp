// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/task.hpp>
#include <core/dispute/player.hpp>
#include <core/dispute/statement.hpp>

/// How a member of a group that computes each step together answers for what it claimed or stated: by accusing whoever
/// misled it (STM-8, STM-9).
namespace assay::roles {

/// The disputes of those that stand still until an accusation has ended that answers them (STM-9).
std::set<contracts::DisputeId> answered(const std::vector<contracts::Dispute>& open);

/// Whether `self` may answer the dispute by an accusation when it is its move there.
bool may_answer(const contracts::Task& task, const contracts::Dispute& dispute, const AccountId& self);

/// The claim of the steps that a dispute is about, whatever follows from them.
dispute::Claim replayed_claim(const contracts::Dispute& dispute);

/// Whether `self` should answer: not if it has claimed the state, or stated the values, that `replay`, its own
/// execution of these steps, comes to. Then it wins the dispute, and need not search what it was told: a false
/// accusation would cost it more time than its clock has. An answer would have the segment cut, though it is right
/// (STM-10), and the members would lose their pay for it.
bool has_to_answer(const contracts::Dispute& dispute, dispute::Replay& replay);

/// Something that a member was told, with its author's signature.
struct TheirStatement {
    const dispute::StatedPiece& stated;
    const Signature& signature;
};

/// The accusation of whoever has signed the piece; nullopt if that is none of the task's members, or is `self`. The
/// rank in a session says nothing about who it was. `segment` is the claim of the whole segment, `replay` the
/// accuser's own execution of it, which has other values.
std::optional<contracts::Accuse> accuse(
    const contracts::Task& task, const std::string& chain_id, const AccountId& self, const dispute::Claim& segment,
    const TheirStatement& wrong, dispute::Replay& replay
);

/// The accusation that answers a dispute by the first wrong thing that `self` was told; nullopt if that is not before
/// what `self` is accused of, or cannot be accused: then it is its own fault.
std::optional<contracts::Accuse> answer(
    const contracts::Task& task, const contracts::Dispute& dispute, const std::string& chain_id, const AccountId& self,
    const TheirStatement& wrong, dispute::Replay& replay
);

}  // namespace assay::roles
