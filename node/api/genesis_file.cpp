// SPDX-License-Identifier: Apache-2.0
#include <node/api/genesis_file.hpp>

#include <charconv>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/system/file.hpp>
#include <core/crypto/address.hpp>
#include <core/base/nearest.hpp>

namespace assay::node {
namespace {

using contracts::Params;
using Json = nlohmann::ordered_json;

struct AmountParam {
    const char* name;
    Amount Params::*member;
};
constexpr AmountParam kAmounts[] = {
    {"gas_price_min", &Params::gas_price_min},
    {"solver_bond", &Params::solver_bond},
    {"verifier_bond", &Params::verifier_bond},
    {"challenger_bond", &Params::challenger_bond},
    {"value_per_check", &Params::value_per_check},
    {"value_per_verifier", &Params::value_per_verifier},
    {"validator_stake_min", &Params::validator_stake_min},
    {"contributor_bond", &Params::contributor_bond},
    {"task_value_max", &Params::task_value_max},
    {"draw_price", &Params::draw_price},
    {"room_price", &Params::room_price},
    {"attest_fee", &Params::attest_fee},
    {"retention_price", &Params::retention_price},
};

struct NumberParam {
    const char* name;
    std::uint32_t Params::*member;
};
constexpr NumberParam kNumbers[] = {
    {"tx_size_max", &Params::tx_size_max},
    {"block_size_max", &Params::block_size_max},
    {"block_gas_max", &Params::block_gas_max},
    {"unbonding_blocks", &Params::unbonding_blocks},
    {"verifiers_per_segment", &Params::verifiers_per_segment},
    {"segments_checked", &Params::segments_checked},
    {"accept_blocks", &Params::accept_blocks},
    {"commit_blocks", &Params::commit_blocks},
    {"publish_blocks", &Params::publish_blocks},
    {"challenge_blocks", &Params::challenge_blocks},
    {"dispute_clock_blocks", &Params::dispute_clock_blocks},
    {"dispute_extension_blocks", &Params::dispute_extension_blocks},
    {"attest_blocks", &Params::attest_blocks},
    {"slash_to_winner_bps", &Params::slash_to_winner_bps},
    {"solver_bond_bps", &Params::solver_bond_bps},
    {"verifier_bond_bps", &Params::verifier_bond_bps},
    {"challenger_bond_bps", &Params::challenger_bond_bps},
    {"segments_checked_max", &Params::segments_checked_max},
    {"verifiers_per_segment_max", &Params::verifiers_per_segment_max},
    {"forced_error_bps", &Params::forced_error_bps},
    {"watchers_per_verdict", &Params::watchers_per_verdict},
    {"tax_bps", &Params::tax_bps},
    {"disclose_blocks", &Params::disclose_blocks},
    {"validators_max", &Params::validators_max},
    {"double_sign_slash_bps", &Params::double_sign_slash_bps},
    {"downtime_blocks", &Params::downtime_blocks},
    {"jail_blocks", &Params::jail_blocks},
    {"profilers", &Params::profilers},
    {"profilers_min", &Params::profilers_min},
    {"profile_segments", &Params::profile_segments},
    {"profiling_fee_bps", &Params::profiling_fee_bps},
    {"threshold_quantile_ppm", &Params::threshold_quantile_ppm},
    {"threshold_confidence_ppm", &Params::threshold_confidence_ppm},
    {"threshold_margin_thousandths", &Params::threshold_margin_thousandths},
    {"threshold_separation", &Params::threshold_separation},
    {"growth_max_thousandths", &Params::growth_max_thousandths},
    {"contributors_max", &Params::contributors_max},
    {"contribute_blocks", &Params::contribute_blocks},
    {"deadline_slash_bps", &Params::deadline_slash_bps},
    {"decline_blocks", &Params::decline_blocks},
    {"end_block_gas_max", &Params::end_block_gas_max},
    {"draw_blocks", &Params::draw_blocks},
    {"draws_max", &Params::draws_max},
    {"redraw_blocks", &Params::redraw_blocks},
    {"redraws_max", &Params::redraws_max},
    {"committee_seats", &Params::committee_seats},
    {"block_ms", &Params::block_ms},
    {"replay_blocks_max", &Params::replay_blocks_max},
    {"duty_gas_max", &Params::duty_gas_max},
    {"duty_wait_blocks", &Params::duty_wait_blocks},
    {"standstill_blocks", &Params::standstill_blocks},
    {"vote_blocks", &Params::vote_blocks},
    {"vote_delay_blocks", &Params::vote_delay_blocks},
    {"retention_blocks_max", &Params::retention_blocks_max},
    {"retention_shows", &Params::retention_shows},
    {"retention_show_blocks", &Params::retention_show_blocks},
    {"share_blocks", &Params::share_blocks},
};

struct WideParam {
    const char* name;
    std::uint64_t Params::*member;
};
constexpr WideParam kWides[] = {
    {"work_price", &Params::work_price},
    {"memory_default", &Params::memory_default},
    {"validator_unbonding_ms", &Params::validator_unbonding_ms},
    {"trusting_period_ms", &Params::trusting_period_ms},
};
static_assert(Params::fields().kCount == std::size(kAmounts) + std::size(kNumbers) + std::size(kWides) + 2);

[[noreturn]] void fail(const std::string& what) { throw GenesisFileError("genesis: " + what); }

/// The document; a member that occurs twice is an error, which plain parsing would pass over.
Json decode_document(std::string_view text) {
    std::vector<std::set<std::string>> seen;
    const auto watch = [&seen](int, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) {
            seen.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            seen.pop_back();
        } else if (event == Json::parse_event_t::key && !seen.back().insert(parsed.get<std::string>()).second) {
            fail("\"" + parsed.get<std::string>() + "\" occurs twice");
        }
        return true;
    };
    try {
        return Json::parse(text, watch);
    } catch (const Json::exception& error) {
        fail(std::string("not JSON: ") + error.what());
    }
}

Amount decode_grains(const Json& value, const std::string& where) {
    if (!value.is_string()) {
        fail(where + " must be a string of grains, like \"1000000000\"");
    }
    const auto text = value.get<std::string>();
    Amount out;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.grains);
    if (error != std::errc{} || end != text.data() + text.size() || text != std::to_string(out.grains)) {
        fail(where + ": \"" + text + "\" is not a number of grains");
    }
    return out;
}

void check_members(const Json& object, const std::vector<std::string>& known, const std::string& where) {
    for (const auto& [key, value] : object.items()) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            // NOLINTNEXTLINE(performance-inefficient-string-concatenation): the loop ends here
            fail("unknown member \"" + key + "\" in " + where + "; nearest: \"" + nearest(key, known) + "\"");
        }
    }
}

std::vector<contracts::HardwareClass> decode_classes(const Json& list) {
    const std::string where = "params.hardware_classes";
    if (!list.is_array()) {
        fail(where + " must be a list");
    }
    std::vector<contracts::HardwareClass> classes;
    for (const Json& item : list) {
        if (!item.is_object() || !item.contains("name") || !item.contains("least_score") || !item["name"].is_string() ||
            !item["least_score"].is_number_unsigned()) {
            fail(where + " must have members like {\"name\": \"cpu\", \"least_score\": 1}");
        }
        check_members(item, {"name", "least_score"}, where);
        classes.push_back({item["name"].get<std::string>(), item["least_score"].get<std::uint64_t>()});
    }
    return classes;
}

Params decode_params(const Json& object) {
    if (!object.is_object()) {
        fail("params must be an object");
    }
    std::vector<std::string> known;
    Params params;
    for (const AmountParam& param : kAmounts) {
        known.emplace_back(param.name);
        if (object.contains(param.name)) {
            params.*param.member = decode_grains(object[param.name], std::string("params.") + param.name);
        }
    }
    for (const NumberParam& param : kNumbers) {
        known.emplace_back(param.name);
        if (!object.contains(param.name)) {
            continue;
        }
        const Json& value = object[param.name];
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
            fail(std::string("params.") + param.name + " must be a whole number below 2^32");
        }
        params.*param.member = value.get<std::uint32_t>();
    }
    for (const WideParam& param : kWides) {
        known.emplace_back(param.name);
        if (object.contains(param.name)) {
            if (!object[param.name].is_number_unsigned()) {
                fail(std::string("params.") + param.name + " must be a whole number");
            }
            params.*param.member = object[param.name].get<std::uint64_t>();
        }
    }
    known.emplace_back("hardware_classes");
    if (object.contains("hardware_classes")) {
        params.hardware_classes = decode_classes(object["hardware_classes"]);
    }
    check_members(object, known, "params");
    return params;
}

/// PAR-13. Comes before everything else, since the rest means something else in another version.
void check_protocol(const Json& document) {
    const std::string mine = std::to_string(contracts::kProtocolVersion);
    const std::string advice =
        "; use the release of Assay that began this chain, or begin a new one (docs/operations/upgrade.md)";
    if (!document.contains("protocol_version")) {
        fail(
            "protocol_version is missing, as in files of release 0.1, and this program speaks version " + mine + advice
        );
    }
    const Json& version = document["protocol_version"];
    if (!version.is_number_unsigned()) {
        fail("protocol_version must be a whole number");
    }
    if (version.get<std::uint64_t>() != contracts::kProtocolVersion) {
        fail("the chain speaks version " + version.dump() + " of the protocol, this program version " + mine + advice);
    }
}

std::vector<contracts::GenesisValidator> decode_validators(const Json& array) {
    if (!array.is_array()) {
        fail("validators must be an array");
    }
    std::vector<contracts::GenesisValidator> out;
    for (const Json& item : array) {
        const std::string where = "validators[" + std::to_string(out.size()) + "]";
        if (!item.is_object()) {
            fail(where + " must be an object");
        }
        check_members(item, {"account", "consensus_key", "stake"}, where);
        const auto text = [&](const char* name) {
            if (!item.contains(name) || !item[name].is_string()) {
                fail(where + "." + name + " must be a string");
            }
            return item[name].get<std::string>();
        };
        const auto account = crypto::decode_address(text("account"));
        const auto key = fixed_from_hex<contracts::ConsensusKey>(text("consensus_key"));
        if (!account || !key) {
            fail(where + (account ? ".consensus_key is not 64 hex digits" : ".account is not an address"));
        }
        text("stake");
        out.push_back({.account = *account, .key = *key, .stake = decode_grains(item["stake"], where + ".stake")});
    }
    return out;
}

}  // namespace

std::string to_genesis_json(const contracts::Genesis& genesis, std::optional<EngineKind> engine) {
    Json out;
    out["chain_id"] = genesis.chain_id;
    out["protocol_version"] = genesis.params.protocol_version;
    if (engine) {
        out["engine"] = to_string(*engine);
    }
    Json params = Json::object();
    for (const AmountParam& param : kAmounts) {
        params[param.name] = std::to_string((genesis.params.*param.member).grains);
    }
    for (const NumberParam& param : kNumbers) {
        params[param.name] = genesis.params.*param.member;
    }
    for (const WideParam& param : kWides) {
        params[param.name] = genesis.params.*param.member;
    }
    Json classes = Json::array();
    for (const contracts::HardwareClass& each : genesis.params.hardware_classes) {
        classes.push_back({{"name", each.name}, {"least_score", each.least_score}});
    }
    params["hardware_classes"] = std::move(classes);
    out["params"] = std::move(params);
    Json balances = Json::object();
    for (const auto& [account, amount] : genesis.balances) {
        balances[crypto::to_address(account)] = std::to_string(amount.grains);
    }
    out["balances"] = std::move(balances);
    Json validators = Json::array();
    for (const contracts::GenesisValidator& validator : genesis.validators) {
        validators.push_back(
            {{"account", crypto::to_address(validator.account)},
             {"consensus_key", to_hex(validator.key.view())},
             {"stake", std::to_string(validator.stake.grains)}}
        );
    }
    if (!validators.empty()) {
        out["validators"] = std::move(validators);
    }
    return out.dump(2) + "\n";
}

contracts::Genesis decode_genesis_json(std::string_view text) {
    const Json document = decode_document(text);
    if (!document.is_object()) {
        fail("the document must be an object");
    }
    check_protocol(document);
    check_members(
        document, {"chain_id", "protocol_version", "engine", "params", "balances", "validators"}, "the document"
    );
    if (!document.contains("chain_id") || !document["chain_id"].is_string()) {
        fail("chain_id must be a string");
    }
    contracts::Genesis genesis;
    genesis.chain_id = document["chain_id"].get<std::string>();
    if (document.contains("params")) {
        genesis.params = decode_params(document["params"]);
    }
    if (!document.contains("balances") || !document["balances"].is_object()) {
        fail("balances must be an object");
    }
    for (const auto& [address, amount] : document["balances"].items()) {
        const auto account = crypto::decode_address(address);
        if (!account) {
            fail("balances: \"" + address + "\" is not an address");
        }
        if (!genesis.balances.emplace(*account, decode_grains(amount, "the balance of " + address)).second) {
            fail("balances: two entries for " + address);
        }
    }
    if (document.contains("validators")) {
        genesis.validators = decode_validators(document["validators"]);
    }
    const auto changes = contracts::make_genesis(genesis);
    if (!changes) {
        switch (changes.error()) {
            case contracts::GenesisError::kChainId:
                fail("chain_id must be 1 to 48 characters of a-z, 0-9 and -");
            case contracts::GenesisError::kSupplyOverflow:
                fail("the balances exceed the largest amount");
            case contracts::GenesisError::kParams:
                fail("the params contradict each other");
            case contracts::GenesisError::kValidators:
                fail(
                    "validators: an account or a key occurs twice, or stakes less than validator_stake_min, or they "
                    "are too many"
                );
        }
    }
    return genesis;
}

void write_genesis(
    const std::filesystem::path& file, const contracts::Genesis& genesis, std::optional<EngineKind> engine
) {
    if (!system::write_file(file, to_genesis_json(genesis, engine))) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

namespace {

std::string read_text(const std::filesystem::path& file) {
    auto text = system::read_file(file);
    if (!text) {
        throw GenesisFileError("cannot read " + file.string());
    }
    return *std::move(text);
}

}  // namespace

contracts::Genesis read_genesis(const std::filesystem::path& file) { return decode_genesis_json(read_text(file)); }

std::optional<EngineKind> read_genesis_engine(const std::filesystem::path& file) {
    const Json document = decode_document(read_text(file));
    if (!document.is_object() || !document.contains("engine")) {
        const bool has_validators =
            document.is_object() && document.contains("validators") && !document["validators"].empty();
        return has_validators ? std::optional(EngineKind::kCometBft) : std::nullopt;
    }
    const auto engine =
        document["engine"].is_string() ? decode_engine(document["engine"].get<std::string>()) : std::nullopt;
    if (!engine) {
        fail("engine must be \"solo\" or \"cometbft\"");
    }
    return engine;
}

}  // namespace assay::node
