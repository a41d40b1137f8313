// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <node/app/node_api.hpp>
#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

/// The methods of docs/rpc.md over `api`, which outlives the dispatcher, as does `stopping`: once set, waiting calls
/// return.
Dispatcher make_dispatcher(node::NodeApi& api, const std::atomic<bool>& stopping);

}  // namespace assay::rpc
