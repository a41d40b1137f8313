// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <contracts/state/task.hpp>
#include <tests/model/records.hpp>

namespace assay::model {

/// What the chain's record says of the accounts that train a task, which has a group.
Team team_of(const contracts::Task& record);

Motion motion_of(const contracts::Proposal& record);

/// What the record says of a result that is kept.
std::optional<Kept> kept_of(const contracts::Task& record);

/// What the record says of a private task's keys.
std::optional<Secret> secret_of(const contracts::Task& record);

/// Reads the checkpoint in the slot with this key.
void read_checkpoint(Task& task, const Bytes& key, const contracts::Checkpoint& record);

}  // namespace assay::model
