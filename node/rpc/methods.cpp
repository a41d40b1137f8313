// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/methods.hpp>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/cursor.hpp>
#include <node/rpc/describe/methods.hpp>
#include <node/rpc/metered_api.hpp>
#include <node/rpc/method_parts.hpp>

namespace assay::rpc {

using node::NodeApi;

Json next_cursor(std::string_view scope, const std::optional<std::uint64_t>& next) {
    return next ? Json(encode_cursor(scope, *next)) : Json();
}

std::uint64_t first_history(const NodeApi& api) { return api.status().first_history.value; }

namespace {

/// Refuses parameters that the method's description does not have.
void check_names(const describe::Method& method, const Json& params) {
    for (const auto& item : params.items()) {
        const std::string& name = item.key();
        const bool is_known = std::any_of(method.params.begin(), method.params.end(), [&name](const auto& each) {
            return each.name == name;
        });
        if (!is_known) {
            throw Fault(kInvalidParams, "unknown parameter \"" + name + "\"", {{"parameter", name}});
        }
    }
}

/// Adds methods under the names and with the parameters of their descriptions.
class Table {
  public:
    explicit Table(NodeApi& api) : api_(api) {}

    void add(const char* name, Dispatcher::Method run) {
        out_.add(name, [&method = describe::find_method(name), run = std::move(run)](const Json& params, Work& work) {
            check_names(method, params);
            return run(params, work);
        });
    }
    /// A method that reads.
    void add(const char* name, Json (*method)(const NodeApi&, const Json&)) {
        add(name, [&api = api_, method](const Json& params, Work& work) {
            try {
                return method(MeteredApi(api, work), params);
            } catch (const consensus::HeightNotKept& error) {
                throw Fault(
                    kUnavailable, error.what(),
                    {{"first_height", error.first().value}, {"last_height", error.last().value}}
                );
            }
        });
    }
    Dispatcher take() && { return std::move(out_); }

  private:
    NodeApi& api_;
    Dispatcher out_;
};

}  // namespace

Dispatcher make_dispatcher(NodeApi& api) {
    Table table(api);
    table.add("node_status", node_status);
    table.add("chain_params", chain_params);
    table.add("chain_block", chain_block);
    table.add("chain_light_block", chain_light_block);
    table.add("chain_proof", chain_proof);
    table.add("fee_history", fee_history);
    table.add("supply_get", supply_get);
    table.add("search", search);
    table.add("tx_get", tx_get);
    table.add("account_get", account_get);
    table.add("account_history", account_history);
    table.add("account_payments", account_payments);
    table.add("stake_get", stake_get);
    table.add("validator_list", validator_list);
    table.add("validator_history", validator_history);
    table.add("proposal_list", proposal_list);
    table.add("beacon_get", beacon_get);
    table.add("task_get", task_get);
    table.add("task_list", task_list);
    table.add("task_history", task_history);
    table.add("task_lineage", task_lineage);
    table.add("checkpoint_get", checkpoint_get);
    table.add("profile_get", profile_get);
    table.add("event_list", event_list);
    table.add("dispute_get", dispute_get);
    table.add("dispute_list", dispute_list);
    table.add("chain_wait", [](const Json& params, Work& work) { return chain_wait(params, work); });
    table.add("tx_submit", [&api](const Json& params, Work& work) {
        MeteredApi metered(api, work);
        return tx_submit(metered, params);
    });
    table.add("rpc.discover", [document = Json(describe::openrpc_document(ASSAY_VERSION))](const Json&, Work&) {
        return document;
    });
    Dispatcher out = std::move(table).take();
    ASSERT(out.names().size() == describe::methods().size());
    return out;
}

}  // namespace assay::rpc
