// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/state/privacy.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/task.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <core/sealed/task_key.hpp>

/// The secrets of a private task. They follow from the submitter's key, so that it has nothing else to keep.
namespace assay::artifacts {

/// The secret of the task's artifacts: "assay/task-secret" over the submitter's secret key, a counter (u32) and the
/// label, which is the chain's id and the spec without its locations and its privacy. The counter is 0, or the first
/// from which a secret follows. Tasks that differ in anything have different secrets.
sealed::TaskSecret artifacts_secret(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::TaskSpec& spec
);
/// The secret of the checkpoints of the solver that was drawn: "assay/checkpoint-secret" over the same with the label
/// chain id, task and solver. No other solver has it.
sealed::TaskSecret checkpoints_secret(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::TaskId& task, const AccountId& solver
);

/// The secrets of a task.
struct TaskSecrets {
    sealed::TaskSecret of_task;
    std::optional<sealed::TaskSecret> of_checkpoints;  ///< nullopt while the task has no solver (PRV-10)
};
/// The secrets of a task, that of the checkpoints for the solver that was drawn last; nullopt if another key has sealed
/// the task.
std::optional<TaskSecrets> secrets_of(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::Task& task
);
/// PRV-3, PRV-10: the shares of these secrets for these readers, in ascending order of their accounts. A reader whose
/// key is no point of the curve gets a share that nobody can open. Draws random bytes.
std::vector<contracts::KeyShare> make_shares(
    const TaskSecrets& secrets, const std::string& chain_id, const contracts::TaskId& task,
    std::span<const contracts::Reader> readers
);

}  // namespace assay::artifacts
