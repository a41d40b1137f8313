// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/rpc/schema_check.hpp>

#include <algorithm>
#include <regex>

#include <node/rpc/describe/methods.hpp>

namespace assay::rpc::test {

namespace {

bool is_of_type(const std::string& type, const Json& value) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "null" && value.is_null()) || (type == "integer" && value.is_number_integer()) ||
           (type == "number" && value.is_number());
}

std::string find_in_object(const Json& document, const Json& schema, const Json& value, const std::string& path) {
    const Json properties = schema.value("properties", Json::object());
    for (const Json& name : schema.value("required", Json::array())) {
        if (!value.contains(name.get<std::string>())) {
            return path + " lacks " + name.get<std::string>();
        }
    }
    for (const auto& item : value.items()) {
        if (properties.contains(item.key())) {
            const std::string inside =
                find_mismatch(document, properties.at(item.key()), item.value(), path + "." + item.key());
            if (!inside.empty()) {
                return inside;
            }
        } else if (schema.value("additionalProperties", true) == false) {
            return path + " has " + item.key() + ", which the description does not";
        }
    }
    return {};
}

std::string find_in_value(const Json& schema, const Json& value, const std::string& path) {
    if (schema.contains("const") && schema.at("const") != value) {
        return path + " is not " + schema.at("const").dump();
    }
    if (schema.contains("enum")) {
        const Json& words = schema.at("enum");
        if (std::find(words.begin(), words.end(), value) == words.end()) {
            return path + " is none of its words: " + value.dump();
        }
    }
    if (schema.contains("minimum") && value < schema.at("minimum")) {
        return path + " is below its minimum";
    }
    if (schema.contains("maximum") && value > schema.at("maximum")) {
        return path + " is above its maximum";
    }
    if (schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(), std::regex(schema.at("pattern").get<std::string>()))) {
        return path + " has another form: " + value.dump().substr(0, 100);
    }
    return {};
}

}  // namespace

std::string find_mismatch(const Json& document, const Json& schema, const Json& value, const std::string& path) {
    if (schema.contains("$ref")) {
        const std::string pointer = schema.at("$ref").get<std::string>().substr(1);
        return find_mismatch(document, document.at(Json::json_pointer(pointer)), value, path);
    }
    if (schema.contains("anyOf")) {
        std::string all;
        for (const Json& each : schema.at("anyOf")) {
            const std::string found = find_mismatch(document, each, value, path);
            if (found.empty()) {
                return {};
            }
            all += (all.empty() ? "" : "; or ") + found;
        }
        return all;
    }
    if (schema.contains("type") && !is_of_type(schema.at("type"), value)) {
        return path + " is not of type " + schema.at("type").get<std::string>() + ": " + value.dump().substr(0, 100);
    }
    if (value.is_object()) {
        return find_in_object(document, schema, value, path);
    }
    if (value.is_array() && schema.contains("items")) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            const std::string inside =
                find_mismatch(document, schema.at("items"), value[i], path + "[" + std::to_string(i) + "]");
            if (!inside.empty()) {
                return inside;
            }
        }
    }
    return find_in_value(schema, value, path);
}

std::string find_mismatch(const std::string& method, const Json& result) {
    static const Json kDocument = describe::openrpc_document("test");
    return find_mismatch(kDocument, Json(describe::find_method(method).result), result);
}

}  // namespace assay::rpc::test
