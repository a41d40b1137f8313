// SPDX-License-Identifier: Apache-2.0
#include <core/base/base64.hpp>
#include <client/light_source.hpp>

#include <array>
#include <charconv>
#include <stdexcept>
#include <string>

namespace assay::client {
namespace {

using nlohmann::json;

constexpr int kPageSize = 100;
constexpr const char* kKeyType = "tendermint/PubKeyEd25519";

[[noreturn]] void refuse(const std::string& what) {
    throw std::runtime_error("the engine's answer is not understood: " + what);
}

std::string text_of(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) {
        refuse(std::string("no text in \"") + name + "\"");
    }
    return found->get<std::string>();
}

/// Numbers of 64 bits are decimal text in the engine's JSON.
std::uint64_t number_of(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_number_unsigned()) {
        return found->get<std::uint64_t>();
    }
    const std::string text = text_of(object, name);
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) {
        refuse(std::string("no number in \"") + name + "\"");
    }
    return out;
}

Bytes hex_of(const json& object, const char* name) {
    std::string text = text_of(object, name);
    for (char& c : text) {
        c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    auto bytes = from_hex(text);
    if (!bytes) {
        refuse(std::string("no hex in \"") + name + "\"");
    }
    return *std::move(bytes);
}

Bytes base64_of(const json& value, const char* name) {
    if (value.is_null()) {
        return {};
    }
    if (!value.is_string()) {
        refuse(std::string("no base64 in \"") + name + "\"");
    }
    auto bytes = from_base64(value.get<std::string>());
    if (!bytes) {
        refuse(std::string("no base64 in \"") + name + "\"");
    }
    return *std::move(bytes);
}

std::int64_t days_from_epoch(int year, unsigned month, unsigned day) {
    // Counted in eras of 400 years that begin in March, so that leap days come last.
    const std::int64_t y = month <= 2 ? year - 1 : year;
    const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
    const auto year_of_era = static_cast<std::int64_t>(y - era * 400);
    const std::int64_t day_of_year =
        (153 * (static_cast<std::int64_t>(month) + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146'097 + day_of_era - 719'468;
}

/// "2026-11-21T17:55:31.604308531Z"
light::Timestamp time_of(const json& object, const char* name) {
    const std::string text = text_of(object, name);
    const auto part = [&](std::size_t at, std::size_t size) {
        int out = 0;
        const char* begin = text.data() + at;
        if (at + size > text.size() || std::from_chars(begin, begin + size, out).ptr != begin + size) {
            refuse(std::string("no time in \"") + name + "\": " + text);
        }
        return out;
    };
    const int year = part(0, 4);
    const int month = part(5, 2);
    const int day = part(8, 2);
    if (text.back() != 'Z' || month < 1 || month > 12 || day < 1 || day > 31) {
        refuse(std::string("no time in \"") + name + "\": " + text);
    }
    light::Timestamp out;
    out.seconds = days_from_epoch(year, static_cast<unsigned>(month), static_cast<unsigned>(day)) * 86'400 +
                  part(11, 2) * 3'600L + part(14, 2) * 60L + part(17, 2);
    if (text.size() > 20 && text[19] == '.') {
        const std::size_t digits = text.size() - 21;
        if (digits == 0 || digits > 9) {
            refuse(std::string("no time in \"") + name + "\": " + text);
        }
        out.nanos = part(20, digits);
        for (std::size_t i = digits; i < 9; ++i) {
            out.nanos *= 10;
        }
    }
    return out;
}

light::BlockId block_id_of(const json& id) {
    light::BlockId out;
    out.hash = hex_of(id, "hash");
    out.parts = static_cast<std::uint32_t>(number_of(id.at("parts"), "total"));
    out.parts_hash = hex_of(id.at("parts"), "hash");
    return out;
}

light::Header header_of(const json& h) {
    light::Header out;
    out.block_version = number_of(h.at("version"), "block");
    out.app_version = h.at("version").contains("app") ? number_of(h.at("version"), "app") : 0;
    out.chain_id = text_of(h, "chain_id");
    out.height = number_of(h, "height");
    out.time = time_of(h, "time");
    out.last_block_id = block_id_of(h.at("last_block_id"));
    out.last_commit_hash = hex_of(h, "last_commit_hash");
    out.data_hash = hex_of(h, "data_hash");
    out.validators_hash = hex_of(h, "validators_hash");
    out.next_validators_hash = hex_of(h, "next_validators_hash");
    out.consensus_hash = hex_of(h, "consensus_hash");
    out.app_hash = hex_of(h, "app_hash");
    out.last_results_hash = hex_of(h, "last_results_hash");
    out.evidence_hash = hex_of(h, "evidence_hash");
    out.proposer_address = hex_of(h, "proposer_address");
    return out;
}

light::Commit commit_of(const json& c) {
    light::Commit out;
    out.height = number_of(c, "height");
    out.round = static_cast<std::uint32_t>(number_of(c, "round"));
    out.block_id = block_id_of(c.at("block_id"));
    for (const json& item : c.at("signatures")) {
        light::CommitSignature signature;
        const std::uint64_t flag = number_of(item, "block_id_flag");
        signature.flag = static_cast<light::VoteFlag>(flag);
        if (flag > 0xFFU || !light::is_valid(signature.flag)) {
            refuse("a vote's flag is " + std::to_string(flag));
        }
        if (signature.flag != light::VoteFlag::kAbsent) {
            signature.validator_address = hex_of(item, "validator_address");
            signature.time = time_of(item, "timestamp");
            signature.signature = base64_of(item.at("signature"), "signature");
        }
        out.signatures.push_back(std::move(signature));
    }
    return out;
}

}  // namespace

light::LightBlock decode_light_block(const json& commit, const json& validators) {
    try {
        light::LightBlock out;
        out.header = header_of(commit.at("signed_header").at("header"));
        out.commit = commit_of(commit.at("signed_header").at("commit"));
        for (const json& item : validators.at("validators")) {
            if (item.at("pub_key").at("type") != kKeyType) {
                refuse("a validator's key is of another type than ed25519");
            }
            out.validators.push_back(
                {.public_key = base64_of(item.at("pub_key").at("value"), "value"),
                 .power = number_of(item, "voting_power")}
            );
        }
        return out;
    } catch (const json::exception& error) {
        refuse(error.what());
    }
}

light::LightBlock read_light_block(const EngineRpc& rpc, std::uint64_t height) {
    const std::string at = std::to_string(height);
    const json commit = rpc.call("commit", {{"height", at}});
    json validators{{"validators", json::array()}};
    std::uint64_t total = 1;
    for (int page = 1; validators["validators"].size() < total; ++page) {
        const json part = rpc.call(
            "validators", {{"height", at}, {"page", std::to_string(page)}, {"per_page", std::to_string(kPageSize)}}
        );
        total = number_of(part, "total");
        if (part.at("validators").empty()) {
            refuse("the validators end before their number");
        }
        for (const json& item : part.at("validators")) {
            validators["validators"].push_back(item);
        }
    }
    return decode_light_block(commit, validators);
}

}  // namespace assay::client
