// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <client/rpc_client.hpp>
#include <verifier/artifacts/claimed_losses.hpp>

namespace assay::cli {

/// One loss, and who claims it.
struct LossOf {
    AccountId account;
    artifacts::ClaimedLoss claim;
};

/// Asks the solvers of a task, where they serve its checkpoints, for the losses of its segments. The result is by
/// segment. Only what a solver of the task has signed counts, and nobody has verified it. Throws Failure if there is no
/// such task, no checkpoint yet, or nobody answers with losses.
std::map<std::uint32_t, LossOf> fetch_losses(client::RpcClient& rpc, const contracts::TaskId& task);

nlohmann::json losses_json(const contracts::TaskId& task, const std::map<std::uint32_t, LossOf>& losses);
std::string losses_text(const std::map<std::uint32_t, LossOf>& losses);

}  // namespace assay::cli
