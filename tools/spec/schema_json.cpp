// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/files.hpp>

namespace assay::spec {
namespace {

Json fields_json(const std::vector<Field>& fields) {
    Json out = Json::array();
    for (const Field& field : fields) {
        out.push_back({{"name", field.name}, {"type", field.type}});
    }
    return out;
}

Json numbers_json(const std::map<std::string, std::vector<Enumerator>>& enums) {
    Json out = Json::object();
    for (const auto& [name, all] : enums) {
        Json& values = out[name] = Json::array();
        for (const Enumerator& e : all) {
            values.push_back({{"number", e.number}, {"name", e.name}});
        }
    }
    return out;
}

std::string hex_byte(std::uint8_t byte) { return to_hex(ByteView(&byte, 1)); }

std::string join(const std::vector<Field>& fields) {
    std::string out;
    for (const Field& field : fields) {
        out += (out.empty() ? "`" : "; `") + field.name + ": " + field.type + "`";
    }
    return out.empty() ? "nothing" : out;
}

void write_records(std::string& out, const Schema& schema) {
    out += "\n## Records\n\nLeast is the least number of bytes of an encoding.\n";
    out += "\n| record | fields in order | least |\n|---|---|---|\n";
    for (const auto& [name, record] : schema.records) {
        out += "| `" + name + "` | " + join(record.fields) + " | " + std::to_string(record.least_bytes) + " |\n";
    }
}

void write_variants(std::string& out, const Schema& schema) {
    for (const auto& [name, alternatives] : schema.variants) {
        out += "\n## " + name + "\n\n| index | name | type |\n|---|---|---|\n";
        for (std::size_t i = 0; i < alternatives.size(); ++i) {
            out += "| " + std::to_string(i) + " | `" + alternatives[i].name + "` | `" + alternatives[i].type + "` |\n";
        }
    }
}

void write_numbers(
    std::string& out, const std::string& title, const std::map<std::string, std::vector<Enumerator>>& enums
) {
    out += "\n## " + title + "\n\n| name | numbers |\n|---|---|\n";
    for (const auto& [name, all] : enums) {
        std::string numbers;
        for (const Enumerator& e : all) {
            numbers += numbers.empty() ? "" : ", ";
            numbers.append(std::to_string(e.number)).append(" `").append(e.name).append("`");
        }
        out += "| `" + name + "` | " + numbers + " |\n";
    }
}

void write_slots_and_tags(std::string& out, const Schema& schema) {
    out += "\n## State slots\n\nThe prefix is hexadecimal. Numbers in a key are big-endian.\n";
    out += "\n| prefix | name | rest of the key | value |\n|---|---|---|---|\n";
    for (const Slot& slot : schema.slots) {
        const std::string rest = slot.rest.empty() ? "" : join(slot.rest);
        out += "| " + hex_byte(slot.prefix) + " | `" + slot.name + "` | " + rest + " | " + slot.value + " |\n";
    }
    out += "\n## Tagged hashes\n\nThe parts of the data follow each other without separators; raw is bytes without a ";
    out += "length.\n\n| tag | data | the digest is |\n|---|---|---|\n";
    for (const Tag& tag : schema.tags) {
        out += "| `" + tag.tag + "` | " + join(tag.data) + " | " + tag.digest + " |\n";
    }
}

}  // namespace

Json schema_json(const Schema& schema) {
    Json out;
    out["byte_arrays"] = Json::object();
    for (const auto& [name, size] : schema.byte_arrays) {
        out["byte_arrays"][name] = size;
    }
    out["records"] = Json::object();
    for (const auto& [name, record] : schema.records) {
        out["records"][name] = {{"least_bytes", record.least_bytes}, {"fields", fields_json(record.fields)}};
    }
    out["variants"] = Json::object();
    for (const auto& [name, alternatives] : schema.variants) {
        Json& all = out["variants"][name] = Json::array();
        for (std::size_t i = 0; i < alternatives.size(); ++i) {
            all.push_back({{"index", i}, {"name", alternatives[i].name}, {"type", alternatives[i].type}});
        }
    }
    out["enumerations"] = numbers_json(schema.enumerations);
    out["errors"] = numbers_json(schema.errors);
    out["slots"] = Json::array();
    for (const Slot& slot : schema.slots) {
        out["slots"].push_back(
            {{"prefix", hex_byte(slot.prefix)},
             {"name", slot.name},
             {"key", fields_json(slot.rest)},
             {"value", slot.value}}
        );
    }
    out["tags"] = Json::array();
    for (const Tag& tag : schema.tags) {
        out["tags"].push_back({{"tag", tag.tag}, {"data", fields_json(tag.data)}, {"digest", tag.digest}});
    }
    return out;
}

std::string schema_tables(const Schema& schema) {
    std::string out =
        "# Schema\n\nGenerated from the source by `assay-spec`; `schema.json` has the same in a form that programs "
        "read. Do not edit either. What the\nfields mean is in [records](records.md), how types become bytes in "
        "[encoding](encoding.md), and how to check another\nimplementation against this one in "
        "[conformance](conformance.md).\n";
    out += "\n## Byte arrays\n\n| name | bytes |\n|---|---|\n";
    for (const auto& [name, size] : schema.byte_arrays) {
        out += "| `" + name + "` | " + std::to_string(size) + " |\n";
    }
    write_records(out, schema);
    write_variants(out, schema);
    write_numbers(out, "Enumerations", schema.enumerations);
    write_numbers(out, "Errors", schema.errors);
    write_slots_and_tags(out, schema);
    return out;
}

}  // namespace assay::spec
