// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/method_parts.hpp>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/params/work.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/cursor.hpp>
#include <node/rpc/metered_api.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

using node::NodeApi;
namespace keys = contracts::keys;

namespace {

TaskDetails details_of(const NodeApi& api, const contracts::Task& task) {
    TaskDetails details;
    for (std::uint32_t i = 0; i < task.checkpoints; ++i) {
        // The record may be of a later height than the task's: never the other way round.
        if (auto checkpoint = find<contracts::Checkpoint>(api, keys::checkpoint(task.id, i))) {
            details.checkpoints.push_back(*std::move(checkpoint));
        }
    }
    std::optional<std::uint64_t> from = 0;
    while (from) {
        const auto page = api.disputes(task.id, *from, kPageMax, node::Order::kOldest);
        details.disputes.insert(details.disputes.end(), page.items.begin(), page.items.end());
        from = page.next;
    }
    return details;
}

/// Nearest first. The list ends by itself: LIN-1 bounds the depth.
Json ancestors_of(const NodeApi& api, const contracts::Task& task) {
    Json out = Json::array();
    for (auto id = task.spec.parent; id;) {
        const auto ancestor = require<contracts::Task>(api, keys::task(*id), "task");
        out.push_back(render_relative(ancestor));
        id = ancestor.spec.parent;
    }
    return out;
}

}  // namespace

Json task_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto task = require<contracts::Task>(api, keys::task(arguments.id<contracts::TaskId>("task")), "task");
    Json out = render_task(task, details_of(api, task));
    out["first_height"] = first_history(api);
    return out;
}

Json task_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto state = state_argument(arguments, contracts::TaskState::kRefused);
    const node::Order order = arguments.order();
    const std::string scope = in_order("task_list/" + std::string(state ? contracts::to_string(*state) : ""), order);
    Json tasks = Json::array();
    const auto next = scan(
        arguments.from(scope), arguments.limit(),
        [&](std::uint64_t from, std::uint32_t count) { return api.tasks(from, count, order); },
        [&](const contracts::TaskId& id) {
            const auto task = find<contracts::Task>(api, keys::task(id));
            if (!task || (state && task->state != *state)) {
                return false;
            }
            tasks.push_back(render_task_summary(*task));
            return true;
        }
    );
    return {
        {"tasks", std::move(tasks)}, {"next_cursor", next_cursor(scope, next)}, {"first_height", first_history(api)}};
}

Json task_history(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto id = arguments.id<contracts::TaskId>("task");
    const auto task = require<contracts::Task>(api, keys::task(id), "task");
    const std::string scope = "task_history/" + to_hex(id.view());
    const std::uint64_t from = arguments.from(scope);
    const auto page = api.task_history(id, from, arguments.limit());
    if (page.items.empty() ? from < task.history_count : page.items.front().index != from) {
        const std::uint64_t first = first_history(api);
        throw Fault(
            kUnavailable,
            "the beginning of this task's history is not here: what happened is, from block " + std::to_string(first) +
                " on",
            {{"first_height", first}}
        );
    }
    Json records = Json::array();
    for (const auto& record : page.items) {
        records.push_back(render(record));
    }
    return {
        {"task", render(id)},
        {"records", std::move(records)},
        {"next_cursor", next_cursor(scope, page.next)},
        {"first_height", first_history(api)}};
}

Json task_lineage(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto task = require<contracts::Task>(api, keys::task(arguments.id<contracts::TaskId>("task")), "task");
    Json descendants = Json::array();
    const auto lineage_of = [&](const contracts::TaskId& id) {
        return find<contracts::Lineage>(api, keys::lineage(id)).value_or(contracts::Lineage{});
    };
    std::vector<contracts::TaskId> ahead;
    if (const auto child = lineage_of(task.id).first_child) {
        ahead.push_back(*child);
    }
    // A child before its later siblings, so that each follows its parent.
    while (!ahead.empty() && descendants.size() < kScanMax) {
        const contracts::TaskId id = ahead.back();
        ahead.pop_back();
        descendants.push_back(render_relative(require<contracts::Task>(api, keys::task(id), "task")));
        const contracts::Lineage family = lineage_of(id);
        if (family.next_sibling) {
            ahead.push_back(*family.next_sibling);
        }
        if (family.first_child) {
            ahead.push_back(*family.first_child);
        }
    }
    return {
        {"task", render_relative(task)},
        {"ancestors", ancestors_of(api, task)},
        {"descendants", std::move(descendants)},
        {"complete", ahead.empty()}};
}

Json checkpoint_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto task = arguments.id<contracts::TaskId>("task");
    const auto index = static_cast<std::uint32_t>(arguments.number("index", contracts::kMaxSegments));
    return render_checkpoint(
        task, index, require<contracts::Checkpoint>(api, keys::checkpoint(task, index), "checkpoint")
    );
}

Json dispute_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto id = arguments.id<contracts::DisputeId>("dispute");
    const auto dispute = require<contracts::Dispute>(api, keys::dispute(id), "dispute");
    Json out = render_dispute(dispute, api.one_step_us(id), api.dispute_moves(id));
    out["first_height"] = first_history(api);
    return out;
}

Json dispute_list(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto state = state_argument(arguments, contracts::DisputeState::kForced);
    const auto task = arguments.has("task") ? std::optional(arguments.id<contracts::TaskId>("task")) : std::nullopt;
    const node::Order order = arguments.order();
    const std::string scope = in_order(
        "dispute_list/" + (task ? to_hex(task->view()) : std::string()) + "/" +
            std::string(state ? contracts::to_string(*state) : ""),
        order
    );
    Json disputes = Json::array();
    const auto next = scan(
        arguments.from(scope), arguments.limit(),
        [&](std::uint64_t from, std::uint32_t count) { return api.disputes(task, from, count, order); },
        [&](const contracts::DisputeId& id) {
            const auto dispute = find<contracts::Dispute>(api, keys::dispute(id));
            if (!dispute || (state && dispute->state() != *state)) {
                return false;
            }
            disputes.push_back(render_dispute_summary(*dispute, api.one_step_us(id)));
            return true;
        }
    );
    return {
        {"disputes", std::move(disputes)},
        {"next_cursor", next_cursor(scope, next)},
        {"first_height", first_history(api)}};
}

Json profile_get(const NodeApi& api, const Json& params) {
    const Arguments arguments(params);
    const auto id = arguments.id<contracts::TaskId>("task");
    const AccountId profiler = arguments.account("profiler");
    const auto task = require<contracts::Task>(api, keys::task(id), "task");
    const auto profiles = task.tolerance ? task.tolerance->profiles : std::vector<contracts::Profile>{};
    const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
        return profile.profiler == profiler;
    });
    if (found == profiles.end()) {
        throw Fault(kNotFound, "no such profiler of the task");
    }
    const auto place = static_cast<std::uint32_t>(found - profiles.begin());
    const auto report = require<contracts::ProfileReport>(api, keys::profile(id, place), "profile");
    Json out = render(report);
    out["raw"] = to_hex(codec::encode(report));
    return out;
}

}  // namespace assay::rpc
