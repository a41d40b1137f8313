// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <core/sealed/files/seal.hpp>
#include <core/sealed/task_key.hpp>
#include <tests/unit/contracts/toy.hpp>

/// Private toy tasks for tests (PRV rules).
namespace assay::contracts::test {

/// The secret of a key, by a name.
sealed::TaskSecret secret_named(std::string_view name);
/// Of what the submitter provides, and of the checkpoints of the first solver that is drawn.
const sealed::TaskSecret& task_secret();
const sealed::TaskSecret& checkpoint_secret();

/// A task of honest() that only who is drawn can read.
TaskSpec private_spec();
/// Shares of the two secrets of a task for a reader that uses `key`.
KeyShare share_for(
    const TaskId& id, const AccountId& to, const AccountId& key, const sealed::TaskSecret& of_task = task_secret(),
    const sealed::TaskSecret& of_checkpoints = checkpoint_secret()
);
/// Shares for everybody whom the task waits for.
ShareKeys share_all(const Chain& chain, const TaskId& id);

/// quick_params() with nine blocks to share keys.
Params private_params();
/// Submits a private task and has a solver drawn, who waits for the keys.
TaskId drawn_privately(Chain& chain, const TaskSpec& spec = private_spec());
/// The same, and the submitter shares the keys, and the solver accepts.
TaskId start_privately(Chain& chain, const TaskSpec& spec = private_spec());
/// The sealed file of checkpoint `index` of a task of honest().
sealed::SealedFile seal_checkpoint(
    const TaskId& id, std::uint32_t index, const sealed::TaskSecret& secret = checkpoint_secret()
);
/// start_privately, and all checkpoints of honest() are posted, sealed, and the task is completed.
TaskId complete_privately(Chain& chain, const TaskSpec& spec = private_spec());

/// complete_privately with everybody bonded, until its verifiers are drawn and wait for the keys.
TaskId verifying_privately(Chain& chain);

}  // namespace assay::contracts::test
