// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
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
    std::vector<int> errors = {};  ///< beyond those of JSON-RPC itself and those that every method may answer
    std::string text = {};         ///< what else there is to know
};

/// Calls whose number per second a node limits together.
enum class RateClass : std::uint8_t { kRead, kListing, kSubmission, kWait };
inline constexpr std::size_t kRateClasses = 4;
/// "reads", "listings", "submissions" or "waits".
const char* rate_class_name(RateClass rate_class);
RateClass rate_class_of(const Method& method);

/// All methods, in the order in which documents show them.
const std::vector<Method>& methods();
/// Returns the method's description. There must be one.
const Method& find_method(std::string_view name);

/// The OpenRPC 1.2.6 document of the node's methods.
Schema openrpc_document(const std::string& version);

}  // namespace assay::rpc::describe
