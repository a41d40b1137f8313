// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/schema.hpp>

#include <utility>

namespace assay::rpc::describe {

Schema object(const Members& members) {
    Schema properties = Schema::object();
    Schema required = Schema::array();
    for (const Member& member : members) {
        Schema schema = member.schema;
        if (!member.text.empty()) {
            schema["description"] = member.text;
        }
        properties[member.name] = std::move(schema);
        required.push_back(member.name);
    }
    Schema out{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) {
        out["required"] = std::move(required);
    }
    out["additionalProperties"] = false;
    return out;
}

Members join(Members first, const Members& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Schema array(Schema items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Schema nullable(Schema schema) { return any_of({std::move(schema), {{"type", "null"}}}); }

Schema any_of(std::vector<Schema> schemas) { return {{"anyOf", std::move(schemas)}}; }

Schema ref(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Schema text() { return {{"type", "string"}}; }
Schema flag() { return {{"type", "boolean"}}; }
Schema integer() { return {{"type", "integer"}, {"minimum", 0}}; }
Schema signed_integer() { return {{"type", "integer"}}; }
Schema number() { return {{"type", "number"}}; }
Schema constant(const std::string& value) { return {{"type", "string"}, {"const", value}}; }
Schema one_of(const std::vector<std::string>& words) { return {{"type", "string"}, {"enum", words}}; }

Schema hash() { return ref("Hash"); }
Schema hex() { return ref("Hex"); }
Schema account() { return ref("Account"); }
Schema amount() { return ref("Amount"); }
Schema height() { return ref("Height"); }

void add_common(Schema& components) {
    const auto add = [&components](const char* name, Schema schema, const char* description) {
        schema["description"] = description;
        components[name] = std::move(schema);
    };
    add("Hash", {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}}, "A hash or an id: 32 bytes as hex digits.");
    add("Hex", {{"type", "string"}, {"pattern", "^([0-9a-f]{2})*$"}}, "Bytes as hex digits.");
    add("Account", {{"type", "string"}, {"pattern", "^assay1[02-9ac-hj-np-z]{58}$"}},
        "An account's address: its public key in Bech32m.");
    add("Amount", {{"type", "string"}, {"pattern", "^(0|[1-9][0-9]{0,19})$"}},
        "Money in grains, as a decimal string: 10^9 grains are 1 ASY.");
    add("Height", integer(), "The height of a block; 0 where there is none yet.");
    add("Cursor", nullable(text()),
        "Where the next page begins; null on the last page. It belongs to the listing and the filters that gave it.");
}

}  // namespace assay::rpc::describe
