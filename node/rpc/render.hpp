// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <contracts/chain/chain.hpp>
#include <node/api/node_api.hpp>
#include <node/rpc/jsonrpc.hpp>

/// Renders records of the chain as JSON (docs/rpc.md). Amounts are decimal strings, accounts are addresses, hashes are
/// hex. Empty fields are null.
namespace assay::rpc {

template <class Tag, std::size_t kSize>
Json render(const FixedBytes<Tag, kSize>& value) {
    return to_hex(value.view());
}
Json render(const AccountId& account);
Json render(const std::vector<AccountId>& accounts);
Json render(Amount amount);
Json render(Height height);

/// Distances in billionths of the length of the update.
Json render(const contracts::Distances& distances);
/// The relative drifts of a measurement (TOL-6); null if there is none.
Json render(const std::optional<dispute::Measurement>& measurement);
Json render(const contracts::ProfileReport& report);
Json render(const std::vector<contracts::HardwareClass>& classes);
Json render(const contracts::Params& params);  ///< without `raw`
Json render(const std::vector<contracts::ParamChange>& changes);
Json render(const contracts::Stake& stake);
Json render(const contracts::Terms& terms);
Json render(const std::optional<contracts::Environment>& environment);  ///< null if there is none
Json render(const std::vector<contracts::ResultCheck>& checks);
/// The numbers, from 0, of the checks that failed; null if there is no report.
Json render_failed_checks(const std::optional<std::uint32_t>& failed);
Json render(const contracts::ArtifactRef& artifact);
/// What a task is scored on; null if it is not scored.
Json render(const std::optional<contracts::EvaluationCommitment>& evaluation);
Json render_score(std::uint32_t score);  ///< as a number
Json render(const contracts::TaskSpec& spec);
Json render(const contracts::Retention& retention);
Json render(const std::optional<contracts::SealedFile>& file);  ///< null if there is none
Json render(const std::optional<contracts::Privacy>& privacy);  ///< null if the task is not private
Json render(const std::vector<contracts::KeyShare>& shares);
/// The keys of a private task, and who has them; null if the task is not private.
Json render_privacy(const contracts::Task& task);
/// Which tile, or of a private task which piece of a sealed file: the group is the tensor, and the chunk the tile.
Json render_opening(const contracts::TaskId& task, const contracts::DrawnOpening& opening);
/// The fields of an action, or of an event in a task's history, by name.
Json render(const contracts::Action& action);
Json render(const contracts::HistoryEvent& event);
Json render(const contracts::HistoryRecord& record);
/// An event of `describe::kPenaltyEvent`.
Json render(const node::ValidatorPenalty& penalty);

Json render_status(const node::NodeStatus& status, const std::string& version);
Json render_block(const node::StoredBlock& block, const contracts::Params& params);
Json render_tx(const node::StoredTx& tx, bool whole);  ///< whole: with `body` and `raw`
Json render_tx_bytes(
    ByteView bytes, bool whole
);  ///< the fields that the bytes alone contain; null if they do not decode

/// What task_get returns in addition to the task's own record.
struct TaskDetails {
    std::vector<contracts::Checkpoint> checkpoints;  ///< from index 0 on
    std::vector<contracts::DisputeId> disputes;
};
Json render_task(const contracts::Task& task, const TaskDetails& details);
Json render_task_summary(const contracts::Task& task);
Json render_relative(const contracts::Task& task);  ///< the fields of each task in a lineage
Json render_checkpoint(const contracts::TaskId& task, std::uint32_t index, const contracts::Checkpoint& checkpoint);
Json render_dispute(
    const contracts::Dispute& dispute, std::optional<double> one_step_us, const std::vector<node::DisputeMove>& moves
);
Json render_dispute_summary(const contracts::Dispute& dispute, std::optional<double> one_step_us);

}  // namespace assay::rpc
