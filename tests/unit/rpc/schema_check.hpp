// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <node/rpc/jsonrpc.hpp>

/// Holds answers against the node's own description, for the keywords of JSON Schema that it uses. A foreign validator
/// does the same over HTTP (tests/foreign/openrpc).
namespace assay::rpc::test {

/// Returns where and how `value` is not of the schema's shape; empty if it is. References are looked up in `document`.
std::string find_mismatch(const Json& document, const Json& schema, const Json& value, const std::string& path = "$");
/// The same for the result of a method.
std::string find_mismatch(const std::string& method, const Json& result);

}  // namespace assay::rpc::test
