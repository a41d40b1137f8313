// SPDX-License-Identifier: Apache-2.0
#include <client/rpc_answers.hpp>

namespace assay::client {

using nlohmann::json;

RpcError bad_answer(const std::string& method, const std::string& what) {
    return RpcError(kInternalError, "bad_answer", "the node's answer to " + method + " " + what, json::object());
}

const json& answer_member(const std::string& method, const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name)) {
        throw bad_answer(method, std::string("lacks \"") + name + "\"");
    }
    return object.at(name);
}

std::string answer_text(const std::string& method, const json& object, const char* name) {
    const json& value = answer_member(method, object, name);
    if (!value.is_string()) {
        throw bad_answer(method, std::string("has no text in \"") + name + "\"");
    }
    return value.get<std::string>();
}

std::uint64_t answer_number(const std::string& method, const json& object, const char* name) {
    const json& value = answer_member(method, object, name);
    if (!value.is_number_unsigned()) {
        throw bad_answer(method, std::string("has no number in \"") + name + "\"");
    }
    return value.get<std::uint64_t>();
}

const json& answer_list(const std::string& method, const json& object, const char* name) {
    const json& value = answer_member(method, object, name);
    if (!value.is_array()) {
        throw bad_answer(method, std::string("has no list in \"") + name + "\"");
    }
    return value;
}

}  // namespace assay::client
