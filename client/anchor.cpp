// SPDX-License-Identifier: Apache-2.0
#include <client/anchor.hpp>

#include <atomic>
#include <fstream>
#include <iterator>
#include <system_error>

#include <unistd.h>

#include <core/system/file.hpp>
#include <core/crypto/address.hpp>

namespace assay::client {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;

template <class Id>
Id id_in(const json& object, const char* name) {
    const auto id = fixed_from_hex<Id>(object.at(name).get<std::string>());
    if (!id) {
        throw AnchorError(std::string("\"") + name + "\" is not 64 hex digits");
    }
    return *id;
}

Anchor decode(const json& object) {
    if (object.at("format") != kFormat) {
        throw AnchorError("it is of a format that this version does not know");
    }
    Anchor out;
    out.chain_id = object.at("chain_id").get<std::string>();
    out.genesis = id_in<Hash256>(object, "genesis_hash");
    out.engine = object.at("engine").get<std::string>();
    out.height = Height{object.at("height").get<std::uint64_t>()};
    if (out.engine == kCometBft) {
        out.block = {
            .height = object.at("trusted_height").get<std::uint64_t>(), .hash = id_in<Hash256>(object, "trusted_hash")};
        out.trusting_s = object.value("trusting_s", std::int64_t{0});
        return out;
    }
    const auto proposer = crypto::decode_address(object.at("proposer").get<std::string>());
    if (!proposer) {
        throw AnchorError("\"proposer\" is not an address");
    }
    out.proposer = *proposer;
    return out;
}

}  // namespace

std::filesystem::path anchor_file(const std::filesystem::path& home) { return home / "chain.json"; }

std::optional<Anchor> read_anchor(const std::filesystem::path& file) {
    const auto text = system::read_file(file);
    if (!text) {
        if (std::filesystem::exists(file)) {
            throw AnchorError("cannot read " + file.string());
        }
        return std::nullopt;
    }
    try {
        return decode(json::parse(*text));
    } catch (const json::exception& error) {
        throw AnchorError(file.string() + " does not say what chain this home is of: " + error.what());
    } catch (const AnchorError& error) {
        throw AnchorError(file.string() + ": " + error.what());
    }
}

void write_anchor(const std::filesystem::path& file, const Anchor& anchor) {
    nlohmann::ordered_json object{
        {"format", kFormat},
        {"chain_id", anchor.chain_id},
        {"genesis_hash", to_hex(anchor.genesis.view())},
        {"engine", anchor.engine},
        {"height", anchor.height.value}};
    if (anchor.engine == kCometBft) {
        object["trusted_height"] = anchor.block.height;
        object["trusted_hash"] = to_hex(anchor.block.hash.view());
        object["trusting_s"] = anchor.trusting_s;
    } else {
        object["proposer"] = crypto::to_address(anchor.proposer);
    }
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    static std::atomic<unsigned> count = 0;  // threads of one process may write at once
    const std::filesystem::path temporary =
        file.string() + "." + std::to_string(::getpid()) + "." + std::to_string(count.fetch_add(1));
    if (!system::write_file(temporary, object.dump(2) + "\n")) {
        throw AnchorError("cannot write " + temporary.string());
    }
    std::filesystem::rename(temporary, file, error);
    if (error) {
        throw AnchorError("cannot write " + file.string() + ": " + error.message());
    }
}

Trust trust_by(const std::optional<Anchor>& anchor, Trust said) {
    if (!anchor) {
        return said;
    }
    said.chain_id = anchor->chain_id;
    said.engine = anchor->engine;
    if (anchor->engine != kCometBft) {
        said.proposer = said.proposer.value_or(anchor->proposer);
        return said;
    }
    if (!said.block) {
        said.block = anchor->block;
    }
    if (anchor->trusting_s > 0 && !said.trusting_s) {
        said.trusting_s = anchor->trusting_s;
    }
    return said;
}

}  // namespace assay::client
