// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/methods.hpp>

#include <node/rpc/arguments.hpp>
#include <node/rpc/cursor.hpp>
#include <node/rpc/metered_api.hpp>
#include <node/rpc/method_parts.hpp>

namespace assay::rpc {

using node::NodeApi;

Json next_cursor(std::string_view scope, const std::optional<std::uint64_t>& next) {
    return next ? Json(encode_cursor(scope, *next)) : Json();
}

/// From where on listings of tasks and disputes, and what happened in them, begin: a node that began with a snapshot
/// has not seen what was before it.
std::uint64_t first_history(const NodeApi& api) { return api.status().first_history.value; }

Dispatcher make_dispatcher(NodeApi& api) {
    Dispatcher out;
    using Reader = Json (*)(const NodeApi&, const Json&);
    const auto add = [&out, &api](const char* name, Reader method) {
        out.add(name, [&api, method](const Json& params, Work& work) {
            try {
                return method(MeteredApi(api, work), params);
            } catch (const consensus::HeightNotKept& error) {
                throw Fault(
                    kUnavailable, error.what(),
                    {{"first_height", error.first().value}, {"last_height", error.last().value}}
                );
            }
        });
    };
    add("node_status", node_status);
    add("chain_params", chain_params);
    add("chain_block", chain_block);
    add("chain_light_block", chain_light_block);
    add("chain_proof", chain_proof);
    add("tx_get", tx_get);
    add("account_get", account_get);
    add("account_history", account_history);
    add("stake_get", stake_get);
    add("validator_list", validator_list);
    add("beacon_get", beacon_get);
    add("task_get", task_get);
    add("task_list", task_list);
    add("task_history", task_history);
    add("task_lineage", task_lineage);
    add("checkpoint_get", checkpoint_get);
    add("dispute_get", dispute_get);
    add("dispute_list", dispute_list);
    add("profile_get", profile_get);
    out.add("chain_wait", [](const Json& params, Work& work) { return chain_wait(params, work); });
    out.add("tx_submit", [&api](const Json& params, Work& work) {
        MeteredApi metered(api, work);
        return tx_submit(metered, params);
    });
    auto names = out.names();
    names.emplace_back("rpc.discover");
    out.add("rpc.discover", [names](const Json& params, Work&) {
        const Arguments arguments(params, {});
        return Json{{"methods", names}};
    });
    return out;
}

}  // namespace assay::rpc
