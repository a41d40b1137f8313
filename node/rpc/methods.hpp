// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <node/api/node_api.hpp>
#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

/// The methods of docs/rpc.md over `api`, which outlives the dispatcher.
Dispatcher make_dispatcher(node::NodeApi& api);

}  // namespace assay::rpc
