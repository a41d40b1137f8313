// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/config.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <type_traits>
#include <variant>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <toml++/toml.h>

#include <core/system/file.hpp>
#include <core/base/nearest.hpp>

namespace assay::node {
namespace {

/// What the programs of Assay read besides the settings of a node.
constexpr std::array<const char*, 7> kOtherVariables{
    "ASSAY_HOME",        "ASSAY_NODE",          "ASSAY_PASSWORD",           "ASSAY_NEW_PASSWORD",
    "ASSAY_RPC_CA_FILE", "ASSAY_NODE_PASSWORD", "ASSAY_NODE_PASSWORD_FILE",
};

using Target = std::variant<
    EngineKind Config::*, std::string Config::*, bool Config::*, std::uint16_t Config::*, std::uint32_t Config::*,
    std::uint64_t Config::*>;

struct Setting {
    const char* section;
    const char* key;
    const char* comment;
    Target target;
    std::uint64_t min = 0;

    std::string name() const { return std::string(section) + "." + key; }
    std::string variable() const {
        std::string out = std::string("ASSAY_") + section + "_" + key;
        std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
            return static_cast<char>(std::toupper(c));
        });
        return out;
    }
};

std::vector<Setting> rpc_settings() {
    return {
        {"rpc", "address", "Where JSON-RPC listens. Elsewhere than on loopback, set token_file as well.",
         &Config::rpc_address},
        {"rpc", "port", "0 takes any free port; `assayd start` prints it and writes it to data/rpc_address.",
         &Config::rpc_port},
        {"rpc", "connections_max", "At once; a further one takes an idle one's place.", &Config::rpc_connections_max,
         1},
        {"rpc", "connections_per_address",
         "Of one IPv4 address or IPv6 /64; 0: 16, or 256 where rpc.address is loopback. Behind a proxy all clients\n"
         "# have the proxy's.",
         &Config::rpc_connections_per_address},
        {"rpc", "token_file",
         "File (mode 0600) with the token that callers must send; `assayd token` makes one. Empty: everybody may call.",
         &Config::rpc_token_file},
        {"rpc", "socket",
         "A Unix socket to listen on as well, for this user's programs; they need no token. Empty: none.",
         &Config::rpc_socket},
        {"rpc", "tls_certificate",
         "Certificate chain and key in PEM: the port then speaks https and nothing else. Empty: http.",
         &Config::rpc_tls_certificate},
        {"rpc", "tls_key", "", &Config::rpc_tls_key},
        {"rpc", "reads_per_s",
         "Calls per second of one IPv4 address or IPv6 /64, with a burst of twice as many. 0: no limit where\n"
         "# rpc.address is loopback, and else 200 reads, 20 listings, 50 submissions and 20 waits or subscriptions.",
         &Config::rpc_reads_per_s},
        {"rpc", "listings_per_s", "", &Config::rpc_listings_per_s},
        {"rpc", "submissions_per_s", "", &Config::rpc_submissions_per_s},
        {"rpc", "waits_per_s", "", &Config::rpc_waits_per_s},
        {"rpc", "hosts",
         "Names that clients call this node by beside IP addresses and localhost, separated by commas. Others are\n"
         "# refused: a web page could have its own name lead here.",
         &Config::rpc_hosts},
    };
}

std::vector<Setting> other_settings() {
    return {
        {"engine", "kind", "Who makes the blocks: \"solo\" is this process alone, \"cometbft\" many validators.",
         &Config::engine},
        {"engine", "block_interval_ms", "Time between blocks; under CometBFT what it waits after one.",
         &Config::block_interval_ms, 1},
        {"engine", "create_empty_blocks", "Deadlines are counted in blocks: without empty ones they stand still.",
         &Config::create_empty_blocks},
        {"cometbft", "program", "CometBFT 0.38; empty: looked for on the PATH and in ~/go/bin.",
         &Config::cometbft_program},
        {"cometbft", "attach", "Do not run it: it runs already, or will, and connects by itself.",
         &Config::cometbft_attach},
        {"cometbft", "application",
         "Where it finds this node (its proxy_app): unix:///PATH or tcp://ADDRESS:PORT; empty: data/abci.sock.",
         &Config::cometbft_application},
        {"cometbft", "rpc_address", "Its own JSON-RPC.", &Config::cometbft_rpc_address},
        {"cometbft", "rpc_port", "", &Config::cometbft_rpc_port, 1},
        {"cometbft", "p2p_address", "Where other validators reach it.", &Config::cometbft_p2p_address},
        {"cometbft", "p2p_port", "", &Config::cometbft_p2p_port, 1},
        {"cometbft", "test_network",
         "Peers may share an address and have private ones: for networks on one machine. Elsewhere it takes away what\n"
         "# protects the node from being surrounded by one adversary.",
         &Config::cometbft_test_network},
        {"cometbft", "peers", "Those it connects to, ID@HOST:PORT, separated by commas.", &Config::cometbft_peers},
        {"cometbft", "remote_signer",
         "Where CometBFT awaits the program that signs for this validator: tcp://ADDRESS:PORT or unix:///PATH. Empty:\n"
         "# it signs with the key in its home.",
         &Config::cometbft_remote_signer},
        {"cometbft", "state_sync_rpc",
         "For a new node: CometBFT's JSON-RPC of two others or more, separated by commas; it takes a snapshot of the\n"
         "# state from its peers instead of executing every block. With a height and the hash of its block to trust.",
         &Config::cometbft_state_sync_rpc},
        {"cometbft", "state_sync_trust_height", "", &Config::cometbft_state_sync_trust_height},
        {"cometbft", "state_sync_trust_hash", "", &Config::cometbft_state_sync_trust_hash},
        {"snapshot", "interval_blocks",
         "Under CometBFT: a snapshot of the state for new nodes at every multiple of this height; 0 for none.",
         &Config::snapshot_interval_blocks},
        {"snapshot", "keep", "How many of them stay.", &Config::snapshot_keep, 1},
        {"pruning", "keep_blocks",
         "States, and under CometBFT blocks, older than so many blocks are erased; 0 keeps everything. Not less\n"
         "# than the chain's unbonding_blocks, 100, and what snapshots need: (keep + 1) times interval_blocks.",
         &Config::pruning_keep_blocks},
        {"mempool", "txs_max", "Limits of what may wait for a block.", &Config::mempool_txs_max, 1},
        {"mempool", "bytes_max", "", &Config::mempool_bytes_max, 1},
        {"mempool", "sender_txs_max", "Of one sender.", &Config::mempool_sender_txs_max, 1},
        {"metrics", "address",
         "Where Prometheus gets /metrics, such as \"127.0.0.1\"; empty: nowhere. Nothing authenticates callers.",
         &Config::metrics_address},
        {"metrics", "port", "0 takes any free port; the URL is in data/metrics_address.", &Config::metrics_port},
        {"metrics", "accounts",
         "Addresses whose balance and disputes are shown besides those of the node key, separated by commas.",
         &Config::metrics_accounts},
        {"log", "status_interval_s", "Seconds between status lines in the log; 0 for none.",
         &Config::status_interval_s},
    };
}

const std::vector<Setting>& settings() {
    static const std::vector<Setting> kSettings = [] {
        std::vector<Setting> out = rpc_settings();
        for (const Setting& setting : other_settings()) {
            out.push_back(setting);
        }
        return out;
    }();
    return kSettings;
}

[[noreturn]] void fail_value(const Setting& setting, const std::string& source, const std::string& text) {
    throw ConfigError(source + ": \"" + text + "\" is not a value for " + setting.name());
}

/// Sets from text. The text of a TOML value and of a variable are the same here.
void assign(Config& config, const Setting& setting, const std::string& text, const Config::Source& from) {
    const std::string source = from.where.empty() ? "the command line" : from.where;
    const auto store = [&](auto member) {
        using Value = std::remove_reference_t<decltype(config.*member)>;
        if constexpr (std::is_same_v<Value, std::string>) {
            config.*member = text;
        } else if constexpr (std::is_same_v<Value, EngineKind>) {
            const auto kind = decode_engine(text);
            if (!kind) {
                fail_value(setting, source, text);
            }
            config.*member = *kind;
        } else if constexpr (std::is_same_v<Value, bool>) {
            if (text != "true" && text != "false") {
                fail_value(setting, source, text);
            }
            config.*member = text == "true";
        } else {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (error != std::errc{} || end != text.data() + text.size() || number < setting.min ||
                number > std::numeric_limits<Value>::max()) {
                fail_value(setting, source, text);
            }
            config.*member = static_cast<Value>(number);
        }
    };
    std::visit(store, setting.target);
    config.sources[setting.name()] = from;
}

std::string to_text(const Config& config, const Setting& setting) {
    const auto show = [&config](auto member) -> std::string {
        using Value = std::remove_cvref_t<decltype(config.*member)>;
        if constexpr (std::is_same_v<Value, std::string>) {
            return "\"" + config.*member + "\"";
        } else if constexpr (std::is_same_v<Value, EngineKind>) {
            return std::string("\"") + to_string(config.*member) + "\"";
        } else if constexpr (std::is_same_v<Value, bool>) {
            return config.*member ? "true" : "false";
        } else {
            return std::to_string(config.*member);
        }
    };
    return std::visit(show, setting.target);
}

const Setting& find_setting(const std::string& name, const std::string& source) {
    std::vector<std::string> known;
    for (const Setting& setting : settings()) {
        if (setting.name() == name) {
            return setting;
        }
        known.push_back(setting.name());
    }
    throw ConfigError(source + ": unknown setting " + name + "; nearest: " + nearest(name, known));
}

std::string toml_value_text(const toml::node& node, const Setting& setting, const std::string& source) {
    const bool wants_string = std::holds_alternative<std::string Config::*>(setting.target) ||
                              std::holds_alternative<EngineKind Config::*>(setting.target);
    const bool wants_bool = std::holds_alternative<bool Config::*>(setting.target);
    if (wants_string && node.is_string()) {
        return **node.as_string();
    }
    if (wants_bool && node.is_boolean()) {
        return **node.as_boolean() ? "true" : "false";
    }
    if (!wants_string && !wants_bool && node.is_integer()) {
        return std::to_string(**node.as_integer());
    }
    throw ConfigError(
        source + ": " + setting.name() + " must be " +
        (wants_string ? "a string"
         : wants_bool ? "true or false"
                      : "a whole number")
    );
}

}  // namespace

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* const value = std::getenv(name.c_str());
        return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    };
}

void apply_toml(Config& config, std::string_view text, const std::string& source) {
    toml::table document;
    try {
        document = toml::parse(text, source);
    } catch (const toml::parse_error& error) {
        std::ostringstream what;
        what << source << ":" << error.source().begin.line << ": " << error.description();
        throw ConfigError(what.str());
    }
    for (const auto& [section, value] : document) {
        const toml::table* const table = value.as_table();
        if (table == nullptr) {
            throw ConfigError(
                source + ": " + std::string(section.str()) + " must be in a section: write it below its [section]"
            );
        }
        for (const auto& [key, entry] : *table) {
            const std::string where = source + ":" + std::to_string(entry.source().begin.line);
            const Setting& setting = find_setting(std::string(section.str()) + "." + std::string(key.str()), where);
            assign(
                config, setting, toml_value_text(entry, setting, where),
                {.origin = Config::Origin::kFile, .where = where}
            );
        }
    }
}

void apply_environment(Config& config, const Environment& environment) {
    for (const Setting& setting : settings()) {
        if (const auto value = environment(setting.variable())) {
            assign(config, setting, *value, {.origin = Config::Origin::kEnvironment, .where = setting.variable()});
        }
    }
}

void apply_flag(Config& config, const std::string& name, const std::string& text) {
    assign(config, find_setting(name, "the command line"), text, {.origin = Config::Origin::kFlag});
}

std::vector<ShownSetting> show_settings(const Config& config) {
    std::vector<ShownSetting> out;
    for (const Setting& setting : settings()) {
        const auto source = config.sources.find(setting.name());
        out.push_back(
            {.name = setting.name(),
             .value = to_text(config, setting),
             .source = source == config.sources.end() ? Config::Source{} : source->second}
        );
    }
    return out;
}

const char* to_string(Config::Origin origin) {
    switch (origin) {
        case Config::Origin::kDefault:
            return "default";
        case Config::Origin::kFile:
            return "file";
        case Config::Origin::kEnvironment:
            return "environment";
        case Config::Origin::kFlag:
            return "flag";
    }
    return "default";
}

std::vector<std::string> environment_names() {
    std::vector<std::string> out;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view text(*each);
        out.emplace_back(text.substr(0, text.find('=')));
    }
    return out;
}

std::vector<std::string> unknown_variables(const std::vector<std::string>& names) {
    std::vector<std::string> known(kOtherVariables.begin(), kOtherVariables.end());
    for (const Setting& setting : settings()) {
        known.push_back(setting.variable());
    }
    std::vector<std::string> out;
    for (const std::string& name : names) {
        if (name.starts_with("ASSAY_") && std::find(known.begin(), known.end(), name) == known.end()) {
            out.push_back(
                "the environment variable " + name + " is not known and has no effect; nearest: " + nearest(name, known)
            );
        }
    }
    return out;
}

Config read_config(const std::filesystem::path& file, const Environment& environment) {
    const auto text = system::read_file(file);
    if (!text) {
        throw ConfigError("cannot read " + file.string());
    }
    Config config;
    apply_toml(config, *text, file.string());
    apply_environment(config, environment);
    return config;
}

void check_pruning(const Config& config, std::uint64_t unbonding_blocks) {
    const std::uint64_t keep = config.pruning_keep_blocks;
    const auto refuse = [keep](std::uint64_t least, const std::string& why) {
        throw ConfigError(
            "pruning.keep_blocks is " + std::to_string(keep) + " and must be 0 or at least " + std::to_string(least) +
            ": " + why
        );
    };
    if (keep == 0) {
        return;
    }
    if (keep < kKeepBlocksMin) {
        refuse(kKeepBlocksMin, "a crash may take the last blocks from the database");
    }
    if (keep < unbonding_blocks) {
        refuse(unbonding_blocks, "evidence of a validator's double signing counts for unbonding_blocks blocks");
    }
    // The oldest snapshot is as old as all of them and the one that is being made.
    const std::uint64_t intervals = std::uint64_t{config.snapshot_keep} + 1;
    if (config.snapshot_interval_blocks > keep / intervals) {
        refuse(
            config.snapshot_interval_blocks * intervals, "who joins by the oldest snapshot needs the blocks after it"
        );
    }
}

bool check_application_address(const std::string& listen) {
    constexpr std::string_view kTcp = "tcp://";
    if (!listen.starts_with(kTcp)) {
        return true;
    }
    const std::string host = listen.substr(kTcp.size(), listen.rfind(':') - kTcp.size());
    in_addr v4{};
    const bool is_v4 = ::inet_pton(AF_INET, host.c_str(), &v4) == 1;
    if (host == "localhost" || host == "::1" || host == "[::1]" || (is_v4 && host.starts_with("127."))) {
        return true;
    }
    const std::uint32_t bits = is_v4 ? ntohl(v4.s_addr) : 0;
    const bool is_private = bits >> 24U == 10 || bits >> 20U == 0xAC1 || bits >> 16U == 0xC0A8;
    const bool is_name = !is_v4 && host.find(':') == std::string::npos && !host.empty();
    if (!is_private && !is_name) {
        throw ConfigError(
            "cometbft.application is " + listen +
            ": whoever can connect there can take the engine's place; use a socket " +
            "file (unix:///PATH), an address of this machine, or one of a private network"
        );
    }
    return false;
}

bool is_loopback(const std::string& address) {
    in_addr v4{};
    return address == "::1" || (::inet_pton(AF_INET, address.c_str(), &v4) == 1 && address.starts_with("127."));
}

std::string to_config_toml(const Config& config) {
    std::string out =
        "# Settings of this node. A flag of `assayd start` wins over an environment variable (ASSAY_<SECTION>_<KEY>),\n"
        "# that over this file. What is commented out has the value shown.\n";
    std::string section;
    for (const Setting& setting : settings()) {
        if (section != setting.section) {
            section = setting.section;
            out += "\n[" + section + "]\n";
        }
        if (*setting.comment != '\0') {
            out += std::string("# ") + setting.comment + "\n";
        }
        const std::string value = to_text(config, setting);
        out += (value == to_text(Config{}, setting) ? "# " : "") + std::string(setting.key) + " = " + value + "\n";
    }
    return out;
}

}  // namespace assay::node
