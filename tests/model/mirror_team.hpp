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

}  // namespace assay::model
