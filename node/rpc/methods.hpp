// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <node/api/node_api.hpp>
#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

/// Returns a dispatcher with the methods of docs/rpc.md. `api` must outlive it.
Dispatcher make_dispatcher(node::NodeApi& api);

}  // namespace assay::rpc
