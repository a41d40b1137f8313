// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <client/engine_rpc.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/protocol.hpp>
#include <core/crypto/address.hpp>
#include <core/keys/key_directory.hpp>
#include <core/system/process.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/home.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/doctor/doctor.hpp>
#include <verifier/relay/message.hpp>
#include <verifier/relay/probe.hpp>
#include <verifier/sandbox/sandbox.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::chrono::seconds kProgramTime{5};
constexpr std::chrono::seconds kRelayTime{5};

/// What a program prints; empty if it cannot be started, fails or takes too long.
std::vector<std::string> output_of(const std::vector<std::string>& command) {
    std::mutex mutex;
    std::vector<std::string> lines;
    try {
        system::Process process(command.front(), command, "/dev/null", [&](const std::string& line) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
        });
        const auto deadline = std::chrono::steady_clock::now() + kProgramTime;
        while (!process.exit_status() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        if (process.stop(std::chrono::milliseconds(100)) != 0) {
            return {};
        }
    } catch (const std::runtime_error&) {
        return {};
    }
    return lines;
}

doctor::NodeFacts look_at_node(const Session& session) {
    doctor::NodeFacts out{.url = session.node.url};
    try {
        const json status = session.rpc().call("node_status");
        out.version = status.value("version", "");
        out.protocol = status.value("protocol_version", 0U);
        out.engine = status.value("engine", "");
        out.height = status.value("height", std::uint64_t{0});
        out.block_at_ms = status.value("time_ms", std::uint64_t{0});
        out.block_interval_ms = status.value("block_interval_ms", std::uint64_t{0});
    } catch (const std::exception& error) {
        out.error = error.what();
    }
    return out;
}

/// Whether a process has the lock of the home.
bool is_locked(const fs::path& lock) {
    const int fd = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_held = fd >= 0 && ::flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (fd >= 0) {
        ::close(fd);
    }
    return is_held;
}

bool is_free(const std::string& address, std::uint16_t port) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    if (::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) != 1) {
        return true;  // IPv6 is left to the node's own message
    }
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const bool out = ::bind(fd, reinterpret_cast<const sockaddr*>(&v4), sizeof(v4)) == 0 || errno != EADDRINUSE;
    ::close(fd);
    return out;
}

void add_key(doctor::HomeFacts& home, const fs::path& file, bool is_needed) {
    struct stat status {};
    const bool is_there = ::stat(file.c_str(), &status) == 0;
    home.keys.push_back(
        {.file = file, .is_there = is_there, .mode = is_there ? status.st_mode & 0777U : 0, .is_needed = is_needed}
    );
}

void look_at_settings(doctor::HomeFacts& out, const node::Home& home) {
    node::Config config;
    try {
        config = node::read_config(home.config(), node::process_environment());
    } catch (const node::ConfigError& error) {
        out.config_error = error.what();
        return;
    }
    const bool is_comet = config.engine == node::EngineKind::kCometBft;
    out.engine = node::to_string(config.engine);
    out.has_public_rpc = !node::is_loopback(config.rpc_address);
    out.has_token = !config.rpc_token_file.empty();
    const auto add_port = [&](const char* setting, const std::string& address, std::uint16_t port) {
        if (port != 0 && !address.empty()) {
            const auto taken = out.is_running ? doctor::PortState::kOurs : doctor::PortState::kForeign;
            out.ports.push_back(
                {.setting = setting,
                 .address = address,
                 .port = port,
                 .state = is_free(address, port) ? doctor::PortState::kFree : taken}
            );
        }
    };
    add_port("rpc.port", config.rpc_address, config.rpc_port);
    add_port("metrics.port", config.metrics_address, config.metrics_port);
    if (is_comet && !config.cometbft_attach) {
        add_port("cometbft.rpc_port", config.cometbft_rpc_address, config.cometbft_rpc_port);
        add_port("cometbft.p2p_port", config.cometbft_p2p_address, config.cometbft_p2p_port);
    }
    if (is_comet && !config.cometbft_attach && config.cometbft_remote_signer.empty()) {
        add_key(out, home.cometbft() / "config" / "priv_validator_key.json", true);
    }
    if (out.has_token) {
        add_key(out, home.root / config.rpc_token_file, true);
    }
}

doctor::HomeFacts look_at_home(const fs::path& path) {
    const node::Home home{path};
    doctor::HomeFacts out{.path = path, .is_node = fs::exists(home.genesis()), .is_running = is_locked(home.lock())};
    std::error_code error;
    const auto space = fs::space(path, error);
    if (!error) {
        out.disk_free = space.available;
        out.disk_size = space.capacity;
    }
    if (out.is_node) {
        add_key(out, home.node_key(), true);
        look_at_settings(out, home);
    }
    for (const std::string& name : crypto::KeyDirectory(path).list()) {
        add_key(out, path / "keys" / (name + ".json"), false);
    }
    return out;
}

/// The accounts whose keys are in the home, by name. What cannot be read is told by the check of keys.
std::vector<std::pair<std::string, AccountId>> accounts_of(const fs::path& home) {
    std::vector<std::pair<std::string, AccountId>> out;
    const crypto::KeyDirectory keys(home);
    for (const std::string& name : keys.list()) {
        try {
            out.emplace_back(name, keys.read(name).account);
        } catch (const crypto::KeyFileError&) {
        }
    }
    try {
        const auto text = crypto::read_secret(node::Home{home}.node_key());
        const bool is_sealed = text.view().starts_with('{');
        out.emplace_back(
            "node_key", is_sealed ? crypto::decode_key_json(text.view(), "node_key").account
                                  : crypto::decode_hex_key(text.view(), "node_key").account()
        );
    } catch (const crypto::KeyFileError&) {
    }
    return out;
}

std::vector<doctor::StakeFacts> look_at_stakes(const Session& session) {
    std::vector<doctor::StakeFacts> out;
    client::RpcClient rpc = session.rpc();
    const contracts::Params params = rpc.params();
    for (const auto& [name, account] : accounts_of(session.home)) {
        const json answer = rpc.call("stake_get", {{"account", crypto::to_address(account)}});
        for (const auto& [role, stake] : answer.at("roles").items()) {
            const std::uint64_t free = std::stoull(stake.at("free").get<std::string>());
            const std::uint64_t locked = std::stoull(stake.at("locked").get<std::string>());
            out.push_back(
                {.account = crypto::to_address(account),
                 .name = name,
                 .role = role,
                 .staked = Amount{free + locked},
                 .least = contracts::least_bond(params, role_argument(role)),
                 .operator_account = answer.at("operator").is_string() ? answer.at("operator").get<std::string>() : ""}
            );
        }
    }
    return out;
}

std::optional<std::uint64_t> look_at_peers(const fs::path& path) {
    try {
        const node::Config config = node::read_config(node::Home{path}.config(), node::process_environment());
        const std::string url =
            "http://" + config.cometbft_rpc_address + ":" + std::to_string(config.cometbft_rpc_port);
        return std::stoull(client::EngineRpc(url).call("net_info").at("n_peers").get<std::string>());
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

struct DoctorArguments {
    std::vector<std::string> relays;
    std::string worker_settings = "/etc/assay/worker.env";
};

/// The relays that are named and those of the service assay-worker, where its settings can be read.
std::vector<doctor::RelayFacts> look_at_relays(const Session& session, const DoctorArguments& a) {
    std::ifstream file(a.worker_settings);
    const std::string settings{std::istreambuf_iterator<char>(file), {}};
    const auto accounts = accounts_of(session.home);
    const AccountId asking = accounts.empty() ? AccountId{} : accounts.front().second;
    std::set<std::string> names(a.relays.begin(), a.relays.end());
    for (const std::string& relay : doctor::relays_of_service(settings)) {
        names.insert(relay);
    }
    std::vector<doctor::RelayFacts> out;
    for (const std::string& name : names) {
        const bool is_name = relay::is_relay_name(name);
        out.push_back(
            {.relay = name,
             .trouble = is_name ? relay::probe(name, asking, kRelayTime) : "it is not HOST:PORT in small letters"}
        );
    }
    return out;
}

doctor::Facts gather(const Session& session, const DoctorArguments& a) {
    doctor::Facts out{.version = ASSAY_VERSION, .protocol = contracts::kProtocolVersion};
    out.now_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count()
    );
    out.node = look_at_node(session);
    out.home = look_at_home(session.home);
    if (out.node.error.empty() && out.node.protocol == out.protocol) {
        out.stakes = look_at_stakes(session);
    }
    if (out.home.is_node && out.node.engine == "cometbft") {
        out.peers = look_at_peers(session.home);
    }
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    if (const auto lines = output_of({(programs / "assayd").string(), "version", "-o", "json"}); !lines.empty()) {
        const json answer = json::parse(lines.front(), nullptr, false);
        out.programs.push_back({.name = "assayd", .version = answer.is_object() ? answer.value("version", "") : ""});
    }
    out.sandbox.is_on = sandbox::mode() == sandbox::Mode::kOn;
    if (const auto refusal = out.sandbox.is_on ? sandbox::probe() : std::nullopt) {
        out.sandbox.error = refusal->message;
    }
    out.relays = look_at_relays(session, a);
    out.gpu.has_worker = fs::exists(programs / "assay-worker");
    if (out.gpu.has_worker) {
        out.gpu.devices =
            output_of({"nvidia-smi", "--query-gpu=name,driver_version,memory.free", "--format=csv,noheader"});
    }
    return out;
}

int run_doctor(const Session& session, const DoctorArguments& a) {
    const auto checks = doctor::check_all(gather(session, a));
    session.print(doctor::to_json(checks), doctor::to_text(checks));
    return doctor::has_failure(checks) ? kExitFailure : kExitOk;
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session) {
    auto a = std::make_shared<DoctorArguments>();
    CLI::App* command = app.add_subcommand(
        "doctor",
        "Check clock, disk, ports, versions, keys, peers, stakes, relays and GPU, and say what to do; exit code 1 "
        "where something fails"
    );
    command->add_option("--relay", a->relays, "HOST:PORT of a relay that a worker of yours uses; repeat it");
    command
        ->add_option(
            "--worker-settings", a->worker_settings, "Settings of the service assay-worker, whose relays are checked"
        )
        ->capture_default_str();
    command->callback([&session, a] { session.command = [&session, a] { return run_doctor(session, *a); }; });
}

}  // namespace assay::cli
