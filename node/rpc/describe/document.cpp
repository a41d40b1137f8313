// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/methods.hpp>

#include <client/rpc_codes.hpp>
#include <node/rpc/describe/errors.hpp>
#include <node/rpc/describe/types.hpp>

namespace assay::rpc::describe {

namespace {

Schema components() {
    Schema schemas = Schema::object();
    add_common(schemas);
    add_chain_types(schemas);
    add_task_types(schemas);
    add_group_types(schemas);
    add_dispute_types(schemas);
    add_event_types(schemas);
    add_action_types(schemas);
    return {{"schemas", std::move(schemas)}};
}

Schema error_object(int code) {
    return {{"code", code}, {"message", name_of(code)}, {"data", {{"hint", hint_of(code)}}}};
}

Schema method_object(const Method& method) {
    Schema params = Schema::array();
    for (const Parameter& each : method.params) {
        Schema param{{"name", each.name}};
        if (!each.text.empty()) {
            param["description"] = each.text;
        }
        param["required"] = each.is_required;
        param["schema"] = each.schema;
        params.push_back(std::move(param));
    }
    Schema errors = Schema::array();
    for (const int code :
         {client::kInvalidParams, client::kLimitExceeded, client::kRateLimited, client::kUnauthorized,
          client::kInternalError}) {
        errors.push_back(error_object(code));
    }
    for (const int code : method.errors) {
        errors.push_back(error_object(code));
    }
    Schema out{{"name", method.name}, {"summary", method.summary}};
    if (!method.text.empty()) {
        out["description"] = method.text;
    }
    out["paramStructure"] = "by-name";
    out["params"] = std::move(params);
    out["result"] = Schema{{"name", "result"}, {"schema", method.result}};
    out["errors"] = std::move(errors);
    out["x-rate-class"] = rate_class_name(rate_class_of(method));
    return out;
}

}  // namespace

Schema openrpc_document(const std::string& version) {
    Schema methods_array = Schema::array();
    for (const Method& method : methods()) {
        methods_array.push_back(method_object(method));
    }
    return {
        {"openrpc", "1.2.6"},
        {"info",
         {{"title", "Assay node"},
          {"version", version},
          {"description",
           "JSON-RPC 2.0 over HTTP POST to /. Read-only methods never change anything; the only method that does is "
           "tx_submit."},
          {"license", {{"name", "Apache-2.0"}}}}},
        {"methods", std::move(methods_array)},
        {"components", components()}};
}

}  // namespace assay::rpc::describe
