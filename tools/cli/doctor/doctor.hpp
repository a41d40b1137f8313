// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/base/integers.hpp>

/// What `assay doctor` looks at, and what it concludes. Conclusions are functions of the facts alone.
namespace assay::cli::doctor {

enum class Level : std::uint8_t { kOk, kWarning, kFailure };
const char* to_string(Level level);

struct Check {
    std::string name;  ///< stable: "clock", "disk", "ports", ...
    Level level = Level::kOk;
    std::string text;
    std::string advice{};  ///< what to do; empty when nothing is
};

/// The node's answer to node_status, or why there is none.
struct NodeFacts {
    std::string url;
    std::string error{};  ///< empty: it answered
    std::string version{};
    std::uint32_t protocol = 0;
    std::string engine{};
    std::uint64_t height = 0;
    std::uint64_t block_at_ms = 0;
    std::uint64_t block_interval_ms = 0;
};

enum class PortState : std::uint8_t {
    kFree,
    kOurs,     ///< the node of this home, or its CometBFT, answers there
    kForeign,  ///< something else listens there
};

struct PortFacts {
    std::string setting;  ///< "rpc.port"
    std::string address;
    std::uint16_t port = 0;
    PortState state = PortState::kFree;
};

struct KeyFacts {
    std::filesystem::path file;
    bool is_there = false;
    std::uint32_t mode = 0;
    bool is_needed = false;  ///< the node does not start without it
};

struct HomeFacts {
    std::filesystem::path path;
    bool is_node = false;        ///< it is a node's: it has a genesis.json
    bool is_running = false;     ///< a process holds its lock
    std::string config_error{};  ///< empty: the settings can be read
    std::string engine{};
    bool has_public_rpc = false;  ///< listens elsewhere than on loopback
    bool has_token = false;
    std::optional<std::uint64_t> disk_free{};  ///< bytes of the file system with the data
    std::optional<std::uint64_t> disk_size{};
    std::vector<PortFacts> ports{};
    std::vector<KeyFacts> keys{};
};

struct StakeFacts {
    std::string account;
    std::string name;  ///< of the key: "alice", or "node_key"
    std::string role;
    Amount staked;  ///< free and locked
    Amount least;
    std::string operator_account{};  ///< OPR-1: its address; empty: the account's own key does its duties
};

struct ProgramFacts {
    std::string name;
    std::string version{};  ///< empty: not found
};

struct GpuFacts {
    bool has_worker = false;
    std::vector<std::string> devices{};
};

/// Where strangers' files are parsed.
struct SandboxFacts {
    bool is_on = true;
    std::string error{};  ///< empty: it works
};

/// A relay through which others reach a worker of this machine (ART-23).
struct RelayFacts {
    std::string relay;      ///< HOST:PORT
    std::string trouble{};  ///< why a worker could not register there; empty: it could
};

struct Facts {
    std::string version;  ///< of this program
    std::uint32_t protocol = 0;
    std::uint64_t now_ms = 0;
    NodeFacts node{};
    HomeFacts home{};
    std::optional<std::uint64_t> peers{};  ///< of CometBFT; nullopt: it was not asked or does not answer
    std::vector<StakeFacts> stakes{};
    std::vector<ProgramFacts> programs{};
    SandboxFacts sandbox{};
    std::vector<RelayFacts> relays{};
    GpuFacts gpu{};
};

std::vector<Check> check_clock(const Facts& facts);
std::vector<Check> check_disk(const Facts& facts);
std::vector<Check> check_ports(const Facts& facts);
std::vector<Check> check_versions(const Facts& facts);
std::vector<Check> check_node(const Facts& facts);
std::vector<Check> check_keys(const Facts& facts);
std::vector<Check> check_peers(const Facts& facts);
std::vector<Check> check_stakes(const Facts& facts);
std::vector<Check> check_sandbox(const Facts& facts);
std::vector<Check> check_relays(const Facts& facts);
std::vector<Check> check_gpu(const Facts& facts);
/// All of them, in the order in which they are shown.
std::vector<Check> check_all(const Facts& facts);

/// Returns the relays that the settings of the service assay-worker name: those behind --relay in ASSAY_WORKER_OPTIONS.
/// `settings` is the text of its worker.env.
std::vector<std::string> relays_of_service(const std::string& settings);

/// Returns what a validator with so much free stake is to be told before it registers; empty if it has enough (VAL-3).
std::string validator_warning(Amount free, Amount least);

/// {"ok": no failure, "checks": [{"name", "level", "text", "advice"}]}
nlohmann::json to_json(const std::vector<Check>& checks);
std::string to_text(const std::vector<Check>& checks);
bool has_failure(const std::vector<Check>& checks);

}  // namespace assay::cli::doctor
