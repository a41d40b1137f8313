// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <node/rpc/describe/schema.hpp>

/// What the node's methods are called with and what they answer. The dispatcher takes the names of parameters from
/// here, rpc.discover and docs/rpc.md show it, and the tests hold every answer against it.
namespace assay::rpc::describe {

struct Parameter {
    std::string name;
    Schema schema;
    std::string text = {};
    bool is_required = true;
};

struct Method {
    std::string name;
    std::string summary;
    std::vector<Parameter> params;
    Schema result;
    std::vector<int> errors = {};  ///< beyond those of JSON-RPC itself, invalid_params and limit_exceeded
    std::string text = {};         ///< what else there is to know
};

/// All methods, in the order in which documents show them.
const std::vector<Method>& methods();
/// Returns the method's description. There must be one.
const Method& find_method(std::string_view name);

/// The OpenRPC 1.2.6 document of the node's methods.
Schema openrpc_document(const std::string& version);

}  // namespace assay::rpc::describe
