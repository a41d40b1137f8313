// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>

#include <node/rpc/describe/methods.hpp>
#include <tools/spec/files.hpp>

namespace assay::spec {

namespace {

namespace describe = rpc::describe;

std::string anchor(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

std::string text_of(const Json& schema);

/// "{a: x, b: y}" for an object that has no name of its own.
std::string members_of(const Json& schema) {
    if (!schema.contains("properties")) {
        return "an object";
    }
    std::string out;
    for (const auto& [name, member] : schema.at("properties").items()) {
        out += (out.empty() ? "`" : ", `") + name + "`: " + text_of(member);
        if (member.contains("description")) {
            out += " (" + member.at("description").get<std::string>() + ")";
        }
    }
    return "an object of " + out;
}

std::string any_of(const Json& schemas) {
    std::string out;
    for (const Json& each : schemas) {
        out += (out.empty() ? "" : " or ") + text_of(each);
    }
    return out;
}

std::string text_of(const Json& schema) {
    if (schema.contains("$ref")) {
        const std::string pointer = schema.at("$ref").get<std::string>();
        const std::string name = pointer.substr(pointer.rfind('/') + 1);
        return "[" + name + "](#" + anchor(name) + ")";
    }
    if (schema.contains("anyOf")) {
        return any_of(schema.at("anyOf"));
    }
    if (schema.contains("const")) {
        return "`\"" + schema.at("const").get<std::string>() + "\"`";
    }
    if (schema.contains("enum")) {
        std::string out;
        for (const Json& word : schema.at("enum")) {
            out += (out.empty() ? "`" : ", `") + word.get<std::string>() + "`";
        }
        return out;
    }
    const std::string type = schema.value("type", "anything");
    if (type == "array") {
        return "an array of " + text_of(schema.at("items"));
    }
    if (type == "object") {
        return members_of(schema);
    }
    if (type == "integer" && schema.contains("maximum")) {
        return "a number from " + schema.at("minimum").dump() + " to " + schema.at("maximum").dump();
    }
    return type == "integer"   ? "a whole number"
           : type == "boolean" ? "true or false"
           : type == "null"    ? "null"
                               : "a " + type;
}

std::string table_of(const Json& schema) {
    std::string out = "| member | shape | what it is |\n|---|---|---|\n";
    for (const auto& [name, member] : schema.at("properties").items()) {
        out += "| `" + name + "` | " + text_of(member) + " | " + member.value("description", "") + " |\n";
    }
    return out;
}

std::string section_of(const Json& method) {
    const std::string name = method.at("name");
    std::string out = "### " + name + "\n\n" + method.at("summary").get<std::string>();
    if (method.contains("description")) {
        out += " " + method.at("description").get<std::string>();
    }
    out += "\n\n";
    if (!method.at("params").empty()) {
        out += "| parameter | shape | what it is |\n|---|---|---|\n";
        for (const Json& param : method.at("params")) {
            out += "| `" + param.at("name").get<std::string>() + "`" + (param.at("required") ? "" : ", optional") +
                   " | " + text_of(param.at("schema")) + " | " + param.value("description", "") + " |\n";
        }
        out += "\n";
    }
    const Json& result = method.at("result").at("schema");
    if (result.contains("properties")) {
        out += "Result:\n\n" + table_of(result);
    } else {
        out += "Result: " + text_of(result) + ".\n";
    }
    std::string errors;
    for (const Json& error : method.at("errors")) {
        errors += (errors.empty() ? "`" : ", `") + error.at("message").get<std::string>() + "`";
    }
    const std::string rate_class = method.at("x-rate-class").get<std::string>();
    return out + "\nErrors: " + errors + ". Counts as one of the client's " + rate_class + ".\n\n";
}

std::string shape_of(const std::string& name, const Json& schema) {
    std::string out = "### " + name + "\n\n";
    if (schema.contains("description")) {
        out += schema.at("description").get<std::string>() + "\n\n";
    }
    if (schema.contains("properties") && !schema.at("properties").empty()) {
        return out + table_of(schema) + "\n";
    }
    if (schema.contains("pattern")) {
        return out + "A string of the form `" + schema.at("pattern").get<std::string>() + "`.\n\n";
    }
    return out +
           (schema.contains("properties") ? std::string("It has no members.") : "It is " + text_of(schema) + ".") +
           "\n\n";
}

}  // namespace

Json openrpc_json() { return describe::openrpc_document(ASSAY_VERSION); }

std::string rpc_page() {
    const Json document = openrpc_json();
    std::string out =
        "# Methods of the node\n\n"
        "Generated from the table that the node answers by; `rpc.discover` serves the same as an\n"
        "[OpenRPC document](openrpc.json). How to call them, limits and errors: [JSON-RPC](../rpc.md);\n"
        "answers of a recorded chain: [examples](examples.md).\n\n## Methods\n\n";
    for (const Json& method : document.at("methods")) {
        out += section_of(method);
    }
    out += "## Shapes\n\n";
    for (const auto& [name, schema] : document.at("components").at("schemas").items()) {
        out += shape_of(name, schema);
    }
    out.pop_back();
    return out;
}

}  // namespace assay::spec
