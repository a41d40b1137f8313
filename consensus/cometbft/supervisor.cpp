// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/supervisor.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/system/file.hpp>
#include <core/system/process.hpp>

namespace assay::cometbft {
namespace {

using nlohmann::ordered_json;

constexpr std::chrono::seconds kCommandTimeout{30};
constexpr std::chrono::seconds kStopGrace{10};
constexpr std::size_t kLastLines = 8;

/// What a command of the engine's prints, line by line. Throws EngineError when it fails.
std::vector<std::string> run(const std::vector<std::string>& command, const std::filesystem::path& log) {
    std::vector<std::string> lines;
    int status = 0;
    {
        system::Process process("cometbft", command, log, [&lines](const std::string& line) { lines.push_back(line); });
        const auto give_up_at = std::chrono::steady_clock::now() + kCommandTimeout;
        while (!process.exit_status()) {
            if (std::chrono::steady_clock::now() > give_up_at) {
                throw EngineError(command.front() + " does not end");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        status = *process.exit_status();
    }
    if (status != 0) {
        throw EngineError(command.front() + " " + command.back() + " ended with " + std::to_string(status));
    }
    return lines;
}

std::string read_text(const std::filesystem::path& file) {
    auto text = system::read_file(file);
    if (!text) {
        throw EngineError("cannot read " + file.string());
    }
    return *std::move(text);
}

ordered_json read_json(const std::filesystem::path& file) {
    auto out = ordered_json::parse(read_text(file), nullptr, false);
    if (!out.is_object()) {
        throw EngineError(file.string() + " is no JSON object");
    }
    return out;
}

std::vector<std::filesystem::path> search_places() {
    std::vector<std::filesystem::path> out;
    const auto from = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    std::istringstream path(from("PATH"));
    for (std::string part; std::getline(path, part, ':');) {
        out.emplace_back(part);
    }
    if (!from("GOBIN").empty()) {
        out.emplace_back(from("GOBIN"));
    }
    if (!from("GOPATH").empty()) {
        out.push_back(std::filesystem::path(from("GOPATH")) / "bin");
    }
    out.push_back(std::filesystem::path(from("HOME")) / "go" / "bin");
    return out;
}

std::string install_hint() { return std::string("; install it with: ") + kInstallCommand; }

}  // namespace

bool is_supported(const std::string& version) {
    std::istringstream in(version.substr(version.starts_with("v") ? 1 : 0));
    int major = 0;
    int minor = 0;
    int patch = 0;
    char dot = 0;
    char other = 0;
    const bool read = static_cast<bool>(in >> major >> dot >> minor >> other >> patch);
    return read && dot == '.' && other == '.' && major == 0 && minor == 38 && patch >= 21;
}

std::filesystem::path find_engine(const std::string& given) {
    std::filesystem::path program = given;
    if (given.empty()) {
        for (const auto& place : search_places()) {
            if (::access((place / "cometbft").c_str(), X_OK) == 0) {
                program = place / "cometbft";
                break;
            }
        }
    }
    if (program.empty() || ::access(program.c_str(), X_OK) != 0) {
        throw EngineError(
            (given.empty() ? std::string("no cometbft on the PATH, in $GOBIN or in ~/go/bin")
                           : "there is no program at " + given) +
            install_hint()
        );
    }
    const auto lines = run({program.string(), "version"}, "/dev/null");
    const std::string version = lines.empty() ? "" : lines.front();
    if (!is_supported(version)) {
        throw EngineError(
            program.string() + " is version \"" + version + "\"; supported is 0.38 from 0.38.21 on" + install_hint()
        );
    }
    return program;
}

Validator make_home(const std::filesystem::path& engine, const std::filesystem::path& home) {
    std::filesystem::create_directories(home);
    run({engine.string(), "--home", home.string(), "init"}, home / "init.log");
    return read_validator(home);
}

Validator read_validator(const std::filesystem::path& home) {
    const auto key = read_json(home / "config" / "priv_validator_key.json");
    Validator out;
    out.address = key.at("address").get<std::string>();
    out.public_key = key.at("pub_key").at("value").get<std::string>();
    return out;
}

std::string node_id(const std::filesystem::path& engine, const std::filesystem::path& home) {
    const auto lines = run({engine.string(), "--home", home.string(), "show-node-id"}, "/dev/null");
    if (lines.empty()) {
        throw EngineError(engine.string() + " does not say the node's id");
    }
    return lines.back();
}

void write_genesis(
    const std::filesystem::path& home, const std::string& chain_id, const std::string& genesis_time,
    const std::vector<Validator>& validators, const contracts::Params& params
) {
    const auto file = home / "config" / "genesis.json";
    ordered_json genesis = read_json(file);
    genesis["genesis_time"] = genesis_time;
    genesis["chain_id"] = chain_id;
    genesis["initial_height"] = "1";
    genesis["consensus_params"]["block"]["max_bytes"] = std::to_string(params.block_size_max);
    genesis["consensus_params"]["block"]["max_gas"] = std::to_string(params.block_gas_max);
    genesis["consensus_params"]["evidence"]["max_age_num_blocks"] = std::to_string(params.unbonding_blocks);
    // VAL-9: in nanoseconds; evidence is too old when it is so by blocks and by time.
    genesis["consensus_params"]["evidence"]["max_age_duration"] =
        std::to_string(params.validator_unbonding_ms) + "000000";
    genesis["validators"] = ordered_json::array();
    for (const Validator& validator : validators) {
        genesis["validators"].push_back(
            {{"address", validator.address},
             {"pub_key", {{"type", "tendermint/PubKeyEd25519"}, {"value", validator.public_key}}},
             {"power", std::to_string(validator.power)},
             {"name", validator.name}}
        );
    }
    genesis["app_hash"] = "";
    if (!system::write_file(file, genesis.dump(2) + "\n")) {
        throw EngineError("cannot write " + file.string());
    }
}

std::vector<std::string> make_command(const EngineSettings& settings) {
    std::string peers;
    for (const std::string& peer : settings.peers) {
        peers += (peers.empty() ? "" : ",") + peer;
    }
    const auto interval = std::to_string(settings.block_interval_ms) + "ms";
    // Its own config.toml holds what is not said here. CheckTx needs the recheck (CMT-4).
    std::vector<std::string> command{
        "/usr/bin/env",
        "CMT_CONSENSUS_TIMEOUT_COMMIT=" + interval,
        "CMT_MEMPOOL_RECHECK=true",
        std::string("CMT_P2P_ALLOW_DUPLICATE_IP=") + (settings.test_network ? "true" : "false"),
        std::string("CMT_P2P_ADDR_BOOK_STRICT=") + (settings.test_network ? "false" : "true"),
        "CMT_MEMPOOL_SIZE=" + std::to_string(settings.mempool_txs),
        "CMT_MEMPOOL_MAX_TXS_BYTES=" + std::to_string(settings.mempool_bytes),
        "CMT_TX_INDEX_INDEXER=null"};
    if (const auto& sync = settings.state_sync) {
        command.insert(
            command.end(), {"CMT_STATESYNC_ENABLE=true", "CMT_STATESYNC_RPC_SERVERS=" + sync->rpc_servers,
                            "CMT_STATESYNC_TRUST_HEIGHT=" + std::to_string(sync->trust_height),
                            "CMT_STATESYNC_TRUST_HASH=" + sync->trust_hash,
                            "CMT_STATESYNC_TRUST_PERIOD=" + std::to_string(sync->trust_period_ms) + "ms"}
        );
    }
    const std::vector<std::string> start{
        settings.program.string(),
        "start",
        "--home=" + settings.home.string(),
        "--proxy_app=" + settings.application,
        "--rpc.laddr=" + settings.rpc_address,
        "--p2p.laddr=" + settings.p2p_address,
        "--p2p.persistent_peers=" + peers,
        std::string("--consensus.create_empty_blocks=") + (settings.create_empty_blocks ? "true" : "false")};
    command.insert(command.end(), start.begin(), start.end());
    if (!settings.remote_signer.empty()) {
        command.push_back("--priv_validator_laddr=" + settings.remote_signer);
    }
    return command;
}

struct Supervisor::Impl {
    std::filesystem::path log;
    std::unique_ptr<system::Process> process;
};

Supervisor::Supervisor(const EngineSettings& settings, const std::filesystem::path& log)
    : impl_(std::make_unique<Impl>()) {
    impl_->log = log;
    std::ofstream out(log, std::ios::app);
    if (!out) {
        throw EngineError("cannot write " + log.string());
    }
    auto file = std::make_shared<std::ofstream>(std::move(out));
    try {
        impl_->process = std::make_unique<system::Process>(
            "cometbft", make_command(settings), log, [file](const std::string& line) { *file << line << std::endl; }
        );
    } catch (const std::runtime_error& error) {
        throw EngineError(error.what());
    }
}

Supervisor::~Supervisor() = default;

std::optional<int> Supervisor::exit_status() { return impl_->process->exit_status(); }
void Supervisor::stop() { impl_->process->stop(kStopGrace); }
int Supervisor::pid() const { return impl_->process->pid(); }

std::string Supervisor::last_words() const {
    std::ifstream in(impl_->log);
    std::deque<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
        if (lines.size() > kLastLines) {
            lines.pop_front();
        }
    }
    std::string out;
    for (const std::string& line : lines) {
        out += "  " + line + "\n";
    }
    return out;
}

}  // namespace assay::cometbft
