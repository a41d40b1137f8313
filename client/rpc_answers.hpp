// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <client/rpc_client.hpp>
#include <client/rpc_codes.hpp>
#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>

/// Reads a node's answers. What a node of ours would not say is an RpcError with the reason "bad_answer".
namespace assay::client {

RpcError bad_answer(const std::string& method, const std::string& what);
const nlohmann::json& answer_member(const std::string& method, const nlohmann::json& object, const char* name);
std::string answer_text(const std::string& method, const nlohmann::json& object, const char* name);
std::uint64_t answer_number(const std::string& method, const nlohmann::json& object, const char* name);
const nlohmann::json& answer_list(const std::string& method, const nlohmann::json& object, const char* name);

template <class T>
T answer_raw(const std::string& method, const nlohmann::json& object) {
    const auto bytes = from_hex(answer_text(method, object, "raw"));
    if (bytes) {
        if (auto value = codec::decode<T>(*bytes)) {
            return *std::move(value);
        }
    }
    throw bad_answer(method, "has a \"raw\" that does not decode");
}

template <class Id>
Id answer_id(const std::string& method, const nlohmann::json& value) {
    if (value.is_string()) {
        if (const auto id = fixed_from_hex<Id>(value.get_ref<const std::string&>())) {
            return *id;
        }
    }
    throw bad_answer(method, "has something else where an id belongs");
}

/// `read()`, or nullopt when the node says that there is no such thing.
template <class Read>
auto unless_missing(Read read) -> std::optional<decltype(read())> {
    try {
        return read();
    } catch (const RpcError& error) {
        if (error.code == kNotFound) {
            return std::nullopt;
        }
        throw;
    }
}

}  // namespace assay::client
