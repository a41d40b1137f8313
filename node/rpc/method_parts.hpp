// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <contracts/state/slots.hpp>
#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <contracts/state/state.hpp>
#include <node/api/node_api.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/jsonrpc.hpp>

/// What the methods of make_dispatcher share, and the methods themselves, by the file that has them.
namespace assay::rpc {

/// The last committed state, as the rules read it.
class CommittedView final : public contracts::StateView {
  public:
    explicit CommittedView(const node::NodeApi& api) : api_(api) {}
    std::optional<Bytes> get(const Bytes& key) const override { return api_.state(key); }

  private:
    const node::NodeApi& api_;
};

inline constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint32_t kScanMax = 1'000;  ///< records that one call of a filtered listing looks at

/// A slot decoded; nullopt when it is empty. What the node stored itself decodes.
template <class T>
std::optional<T> find(const node::NodeApi& api, const Bytes& key) {
    const auto bytes = api.state(key);
    if (!bytes) {
        return std::nullopt;
    }
    auto value = codec::decode<T>(*bytes);
    if (!value) {
        throw std::runtime_error("a slot of the state does not decode");
    }
    return *std::move(value);
}

template <class T>
T require(const node::NodeApi& api, const Bytes& key, const char* what) {
    auto value = find<T>(api, key);
    if (!value) {
        throw Fault(kNotFound, std::string("no such ") + what);
    }
    return *std::move(value);
}

/// What a listing's cursors belong to, by the order in which it is given.
inline std::string in_order(const std::string& scope, node::Order order) {
    return order == node::Order::kNewest ? scope + "/newest" : scope;
}

Json next_cursor(std::string_view scope, const std::optional<std::uint64_t>& next);

/// From where on listings of tasks and disputes, and what happened in them, begin: a node that began with a snapshot
/// has not seen what was before it.
std::uint64_t first_history(const node::NodeApi& api);

template <class State>
std::optional<State> state_argument(const Arguments& arguments, State last) {
    if (!arguments.has("state")) {
        return std::nullopt;
    }
    const std::string name = arguments.text("state");
    for (std::uint8_t i = 1; i <= static_cast<std::uint8_t>(last); ++i) {
        if (name == contracts::to_string(static_cast<State>(i))) {
            return static_cast<State>(i);
        }
    }
    throw Fault(kInvalidParams, "parameter \"state\" names no state", {{"parameter", "state"}});
}

/// Pages of ids, looked up and filtered, until the limit or kScanMax records: `list(from, count)` gives a page,
/// `visit(id)` whether it was taken. Returns where to go on.
template <class List, class Visit>
std::optional<std::uint64_t> scan(std::uint64_t from, std::uint32_t limit, List list, Visit visit) {
    std::uint32_t taken = 0;
    std::uint32_t looked_at = 0;
    std::optional<std::uint64_t> next = from;
    while (next && taken < limit && looked_at < kScanMax) {
        // Never more than are wanted: a page's end is the only place to go on from.
        const auto page = list(*next, limit - taken);
        for (const auto& id : page.items) {
            taken += visit(id) ? 1U : 0U;
            ++looked_at;
        }
        next = page.next;
    }
    return next;
}

// methods_chain.cpp
Json node_status(const node::NodeApi& api, const Json& params);
Json chain_params(const node::NodeApi& api, const Json& params);
Json chain_wait(const Json& params, Work& work);
Json chain_light_block(const node::NodeApi& api, const Json& params);
Json chain_block(const node::NodeApi& api, const Json& params);
Json chain_proof(const node::NodeApi& api, const Json& params);
Json tx_submit(node::NodeApi& api, const Json& params);
Json tx_get(const node::NodeApi& api, const Json& params);

// methods_accounts.cpp
Json account_get(const node::NodeApi& api, const Json& params);
Json account_history(const node::NodeApi& api, const Json& params);
Json validator_list(const node::NodeApi& api, const Json& params);
Json beacon_get(const node::NodeApi& api, const Json& params);
Json stake_get(const node::NodeApi& api, const Json& params);

// methods_tasks.cpp
Json task_get(const node::NodeApi& api, const Json& params);
Json task_list(const node::NodeApi& api, const Json& params);
Json task_history(const node::NodeApi& api, const Json& params);
Json task_lineage(const node::NodeApi& api, const Json& params);
Json checkpoint_get(const node::NodeApi& api, const Json& params);
Json dispute_get(const node::NodeApi& api, const Json& params);
Json dispute_list(const node::NodeApi& api, const Json& params);
Json profile_get(const node::NodeApi& api, const Json& params);

// methods_governance.cpp
Json proposal_list(const node::NodeApi& api, const Json& params);
/// What is planned next (GOV-8); null if nothing is.
Json next_plan(const node::NodeApi& api);

// methods_listings.cpp
Json search(const node::NodeApi& api, const Json& params);
Json fee_history(const node::NodeApi& api, const Json& params);
Json supply_get(const node::NodeApi& api, const Json& params);
Json account_payments(const node::NodeApi& api, const Json& params);
Json validator_history(const node::NodeApi& api, const Json& params);
Json event_list(const node::NodeApi& api, const Json& params);

}  // namespace assay::rpc
