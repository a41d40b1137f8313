// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_losses.hpp>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include <client/http/http.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/state.hpp>
#include <core/crypto/address.hpp>
#include <tools/cli/common/session.hpp>
#include <tools/cli/common/table.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/stores/location.hpp>
#include <verifier/stores/store.hpp>

namespace assay::cli {
namespace {

std::string loss_text(const artifacts::ClaimedLoss& claim) {
    const float loss = std::bit_cast<float>(claim.loss);
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", static_cast<double>(loss));
    return text;
}

/// Which member of the task has signed so: itself, or the solver by its operator, on the node's word. nullopt: none.
std::optional<AccountId> member_behind(client::RpcClient& rpc, const contracts::Task& task, const AccountId& signer) {
    if (contracts::is_member(task, signer)) {
        return signer;
    }
    const auto named = task.solver ? rpc.slot(contracts::keys::operator_of(*task.solver)) : std::nullopt;
    const bool is_operator = named && *named == Bytes(signer.data.begin(), signer.data.end());
    return is_operator ? task.solver : std::nullopt;
}

/// What the server at `location` says of the task, or why that is of no use.
Result<artifacts::ClaimedLosses, std::string> ask(
    client::RpcClient& rpc, const std::string& location, const contracts::Task& task
) {
    http::HttpLimits limits;
    limits.body_max = artifacts::kMaxLossesBytes;
    try {
        const auto decoded = stores::decode_location(location);
        const auto call = decoded ? stores::server_call(*decoded, artifacts::losses_target(task.id)) : std::nullopt;
        if (!call) {
            return Unexpected{"\"" + location + "\" is no server's location"};
        }
        const http::HttpResponse answer = http::http_call(*call, limits);
        if (answer.status != 200) {
            return Unexpected{location + " has no losses of the task (status " + std::to_string(answer.status) + ")"};
        }
        auto read = artifacts::decode_foreign_losses(answer.body);
        if (!read) {
            return Unexpected{"the answer of " + location + " cannot be read: " + read.error().message};
        }
        std::optional<artifacts::ClaimedLosses> losses = *std::move(read);
        const auto member =
            losses && losses->task == task.id ? member_behind(rpc, task, losses->account) : std::nullopt;
        if (!member) {
            return Unexpected{location + " answered with losses that no solver of the task has signed"};
        }
        losses->account = *member;
        return *std::move(losses);
    } catch (const http::NetError& error) {
        return Unexpected{location + " cannot be reached: " + error.what()};
    }
}

}  // namespace

std::map<std::uint32_t, LossOf> fetch_losses(client::RpcClient& rpc, const contracts::TaskId& id) {
    const auto task = rpc.task(id);
    if (!task) {
        throw Failure(kExitNotFound, "not_found", "the chain has no task " + to_hex(id.view()));
    }
    if (task->checkpoints == 0) {
        throw Failure(
            kExitNotFound, "no_checkpoint",
            "no checkpoint of the task is posted yet, and the losses are served where its checkpoints are"
        );
    }
    std::map<std::uint32_t, LossOf> out;
    std::string why;
    std::set<std::string> asked;
    for (const std::uint32_t index : contracts::latest_checkpoints(*task)) {
        const auto checkpoint = rpc.checkpoint(id, index);
        // Solvers alone serve losses; a checkpoint may lie in stores besides.
        const std::string server = checkpoint ? stores::server_among(checkpoint->location) : "";
        if (server.empty() || !asked.insert(server).second) {
            continue;
        }
        const auto losses = ask(rpc, server, *task);
        if (!losses) {
            why += (why.empty() ? "" : "; ") + losses.error();
            continue;
        }
        for (const artifacts::ClaimedLoss& claim : losses->losses) {
            out[claim.segment] = {.account = losses->account, .claim = claim};
        }
    }
    if (out.empty()) {
        throw Failure(
            kExitNotFound, "no_losses",
            "nobody says what the losses are" + (why.empty() ? std::string(": no segment is trained yet") : ": " + why)
        );
    }
    return out;
}

nlohmann::json losses_json(const contracts::TaskId& task, const std::map<std::uint32_t, LossOf>& losses) {
    nlohmann::json out = {{"task", to_hex(task.view())}, {"verified", false}, {"losses", nlohmann::json::array()}};
    for (const auto& [segment, loss] : losses) {
        const float value = std::bit_cast<float>(loss.claim.loss);
        out["losses"].push_back(
            {{"segment", segment},
             {"step", loss.claim.step},
             {"loss", std::isfinite(value) ? nlohmann::json(value) : nlohmann::json()},
             {"claimed_by", crypto::to_address(loss.account)}}
        );
    }
    return out;
}

std::string losses_text(const std::map<std::uint32_t, LossOf>& losses) {
    Table table({"SEGMENT>", "STEP>", "LOSS>", "CLAIMED BY"});
    for (const auto& [segment, loss] : losses) {
        table.add(
            {std::to_string(segment), std::to_string(loss.claim.step), loss_text(loss.claim),
             crypto::to_address(loss.account)}
        );
    }
    return table.text() +
           "These are the losses that the solvers claim and have signed; nobody has verified them. What verifiers "
           "replay are the checkpoints.\n";
}

}  // namespace assay::cli
