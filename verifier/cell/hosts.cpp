// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/hosts.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include <toml++/toml.h>

#include <verifier/plan/index_set.hpp>

namespace assay::cell {
namespace {

constexpr std::size_t kSecretMin = 16;
constexpr std::size_t kNameMax = 64;
constexpr std::string_view kCuda = "cuda:";

bool is_name(const std::string& text) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !text.empty() && text.size() <= kNameMax && std::all_of(text.begin(), text.end(), is_letter);
}

std::string text_of(const toml::table& table, const char* key, const std::string& where) {
    const auto value = table[key].value<std::string>();
    if (!value || value->empty()) {
        throw std::runtime_error(where + ": \"" + key + "\" is missing; give it as a text in quotes");
    }
    return *value;
}

void set_lead(Hosts& hosts, const std::string& text, const std::string& where) {
    const std::size_t colon = text.rfind(':');
    const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
    const bool is_number =
        !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || colon == 0 || std::stoul(port) > 65'535) {
        throw std::runtime_error(where + ": lead = \"" + text + "\" is no ADDRESS:PORT, as in \"10.0.0.1:4100\"");
    }
    hosts.lead_address = text.substr(0, colon);
    hosts.lead_port = static_cast<std::uint16_t>(std::stoul(port));
}

Links decode_links(const std::string& text, const std::string& where) {
    if (text == "tls") {
        return Links::kTls;
    }
    if (text == "plain") {
        return Links::kPlain;
    }
    if (text == "nccl") {
        return Links::kNccl;
    }
    throw std::runtime_error(where + ": links = \"" + text + "\" is none of \"tls\", \"plain\" and \"nccl\"");
}

}  // namespace

const Member* Hosts::find(const std::string& name) const {
    const auto at =
        std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.name == name; });
    return at == members.end() ? nullptr : &*at;
}

std::string Hosts::lead_url() const { return "http://" + lead_address + ":" + std::to_string(lead_port); }

Hosts read_hosts(const std::filesystem::path& path) {
    const std::string where = path.string();
    toml::table table;
    try {
        table = toml::parse_file(where);
    } catch (const toml::parse_error& error) {
        throw std::runtime_error(where + ": " + std::string(error.description()));
    }
    Hosts out;
    set_lead(out, text_of(table, "lead", where), where);
    out.secret = text_of(table, "secret", where);
    if (out.secret.size() < kSecretMin) {
        throw std::runtime_error(where + ": \"secret\" needs at least 16 characters that nobody can guess");
    }
    out.links = decode_links(table["links"].value_or(std::string("tls")), where);
    const toml::array* members = table["members"].as_array();
    if (members == nullptr || members->empty()) {
        throw std::runtime_error(where + ": there is no [[members]] table; the lead alone needs no cell");
    }
    if (members->size() >= plan::kMaxRanks) {
        throw std::runtime_error(where + ": a cell has at most " + std::to_string(plan::kMaxRanks) + " machines");
    }
    std::set<std::string> names;
    for (const toml::node& node : *members) {
        const toml::table* member = node.as_table();
        if (member == nullptr) {
            throw std::runtime_error(where + ": each of \"members\" is a table with a name and an address");
        }
        out.members.push_back({text_of(*member, "name", where), text_of(*member, "address", where)});
        if (!is_name(out.members.back().name) || !names.insert(out.members.back().name).second) {
            throw std::runtime_error(
                where + ": \"" + out.members.back().name +
                "\" is no name; names differ and have letters, digits and . - _ alone, at most 64"
            );
        }
    }
    return out;
}

std::uint32_t gpu_of(const Hosts& hosts, const std::string& name, const std::string& device) {
    const Member* self = hosts.find(name);
    if (!name.empty() && self == nullptr) {
        throw std::runtime_error("the hosts have no member \"" + name + "\"");
    }
    if (device.starts_with(kCuda)) {
        std::uint32_t out = 0;
        const char* const begin = device.data() + kCuda.size();
        const char* const end = device.data() + device.size();
        if (const auto [at, error] = std::from_chars(begin, end, out); error != std::errc() || at != end) {
            throw std::runtime_error("the device \"" + device + "\" is no GPU; cuda:0 is the first one");
        }
        return out;
    }
    if (self == nullptr) {
        return 0;
    }
    const Member* const first = hosts.members.data();
    const auto before = std::count_if(first, self, [&](const Member& other) { return other.address == self->address; });
    return static_cast<std::uint32_t>(before) + (self->address == hosts.lead_address ? 1 : 0);
}

}  // namespace assay::cell
