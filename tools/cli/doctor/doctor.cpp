// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/doctor/doctor.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include <core/base/amount.hpp>

namespace assay::cli::doctor {

namespace {

using Checks = std::vector<Check>;

constexpr std::uint64_t kClockMs = 5'000;        // by which a block may be ahead of this machine's clock
constexpr std::uint64_t kBlocksLateMs = 60'000;  // as in /readyz
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr std::uint64_t kDiskLow = 10 * kGiB;
constexpr std::uint64_t kDiskOut = kGiB;

bool has_node(const Facts& facts) { return facts.node.error.empty(); }

std::string seconds(std::uint64_t ms) { return std::to_string(ms / 1'000) + " s"; }

std::string place(const PortFacts& port) { return port.address + ":" + std::to_string(port.port); }

std::string octal(std::uint32_t mode) {
    std::string out = "0";
    for (const unsigned shift : {6U, 3U, 0U}) {
        out += static_cast<char>('0' + (mode >> shift & 7U));
    }
    return out;
}

}  // namespace

const char* to_string(Level level) {
    switch (level) {
        case Level::kOk:
            return "ok";
        case Level::kWarning:
            return "warning";
        case Level::kFailure:
            return "failure";
    }
    return "ok";
}

Checks check_node(const Facts& facts) {
    if (has_node(facts)) {
        return {{"node", Level::kOk, facts.node.url + " answers, at height " + std::to_string(facts.node.height)}};
    }
    const bool should_run = facts.home.is_node;
    return {
        {"node", Level::kFailure, facts.node.error,
         facts.home.is_running ? "the node of " + facts.home.path.string() +
                                     " runs: give its URL with --node, and its token with --node-token-file"
         : should_run ? "start it: assayd start --home " + facts.home.path.string()
                      : "name a node that runs with --node or ASSAY_NODE"}};
}

Checks check_clock(const Facts& facts) {
    if (!has_node(facts) || facts.node.block_at_ms == 0) {
        return {};
    }
    const std::uint64_t block = facts.node.block_at_ms;
    if (block > facts.now_ms + kClockMs) {
        return {
            {"clock", Level::kFailure,
             "this machine's clock is " + seconds(block - facts.now_ms) + " behind the time of the last block",
             "synchronise it, for example: systemctl enable --now systemd-timesyncd"}};
    }
    const std::uint64_t age = facts.now_ms > block ? facts.now_ms - block : 0;
    if (age > std::max(kBlocksLateMs, 10 * facts.node.block_interval_ms)) {
        return {
            {"clock", Level::kWarning, "the last block is " + seconds(age) + " old",
             "either blocks have stopped (the node's log and its /readyz say why) or this machine's clock is ahead: "
             "compare it with another one"}};
    }
    return {{"clock", Level::kOk, "the last block is " + seconds(age) + " old"}};
}

Checks check_disk(const Facts& facts) {
    if (!facts.home.disk_free) {
        return {};
    }
    const std::uint64_t free = *facts.home.disk_free;
    const std::string text = std::to_string(free / kGiB) + " GiB are free where " + facts.home.path.string() + " is";
    const std::string advice =
        "make room, move the home to a larger disk, or set pruning.keep_blocks: without room the node stops";
    const std::uint64_t twentieth = facts.home.disk_size.value_or(0) / 20;
    if (free < kDiskOut) {
        return {{"disk", Level::kFailure, text, advice}};
    }
    if (free < std::min(kDiskLow, twentieth)) {
        return {{"disk", Level::kWarning, text, advice}};
    }
    return {{"disk", Level::kOk, text}};
}

Checks check_ports(const Facts& facts) {
    Checks out;
    for (const PortFacts& port : facts.home.ports) {
        const std::string name = port.setting + " " + place(port);
        if (port.state == PortState::kForeign) {
            out.push_back(
                {"ports", Level::kFailure, name + " is taken by another program",
                 "find it with ss -ltnp 'sport = :" + std::to_string(port.port) + "', or set another " + port.setting}
            );
        } else {
            const bool is_free = port.state == PortState::kFree;
            out.push_back({"ports", Level::kOk, name + (is_free ? " is free" : " is this node's")});
        }
    }
    return out;
}

Checks check_versions(const Facts& facts) {
    Checks out;
    if (has_node(facts) && facts.node.protocol != facts.protocol) {
        out.push_back(
            {"versions", Level::kFailure,
             "the node speaks version " + std::to_string(facts.node.protocol) + " of the protocol, and this program " +
                 std::to_string(facts.protocol),
             "install the release of the chain on both (docs/operations/upgrade.md)"}
        );
    } else if (has_node(facts) && facts.node.version != facts.version) {
        out.push_back(
            {"versions", Level::kWarning,
             "the node is assayd " + facts.node.version + ", and this is assay " + facts.version,
             "they speak one protocol; install one release of both when you can"}
        );
    } else if (has_node(facts)) {
        out.push_back({"versions", Level::kOk, "node and client are " + facts.version});
    }
    for (const ProgramFacts& program : facts.programs) {
        if (!program.version.empty() && program.version != facts.version) {
            out.push_back(
                {"versions", Level::kWarning,
                 program.name + " is " + program.version + ", and this is " + facts.version,
                 "install all programs of one release"}
            );
        } else if (!program.version.empty()) {
            out.push_back({"versions", Level::kOk, program.name + " is " + program.version});
        }
    }
    return out;
}

Checks check_keys(const Facts& facts) {
    Checks out;
    const HomeFacts& home = facts.home;
    if (!home.config_error.empty()) {
        out.push_back({"settings", Level::kFailure, home.config_error, "correct it: the node does not start with it"});
    }
    if (home.has_public_rpc && !home.has_token) {
        out.push_back(
            {"settings", Level::kWarning, "the RPC listens beyond this machine, and everybody may call it",
             "assayd token --home " + home.path.string() + " makes a token that callers must send"}
        );
    }
    for (const KeyFacts& key : home.keys) {
        const std::string file = key.file.string();
        if (!key.is_there && key.is_needed) {
            out.push_back(
                {"keys", Level::kFailure, file + " is missing", "restore it: without it the node does not start"}
            );
        } else if (key.is_there && (key.mode & 077U) != 0) {
            out.push_back(
                {"keys", Level::kFailure, file + " has the mode " + octal(key.mode) + ", and others can read it",
                 "chmod 600 " + file + "; and replace the key if anybody else has an account here"}
            );
        } else if (key.is_there) {
            out.push_back({"keys", Level::kOk, file + " is its owner's alone"});
        }
    }
    return out;
}

Checks check_peers(const Facts& facts) {
    const bool asks = has_node(facts) && facts.node.engine == "cometbft";
    if (!asks || !facts.home.is_node) {
        return {};
    }
    if (!facts.peers) {
        return {
            {"peers", Level::kWarning, "CometBFT's own RPC does not say how many peers there are",
             "look at data/cometbft.log, and at cometbft.rpc_address and cometbft.rpc_port"}};
    }
    if (*facts.peers == 0) {
        return {
            {"peers", Level::kWarning, "CometBFT has no peers",
             "set cometbft.peers, and let others reach cometbft.p2p_port; a chain of one validator needs none"}};
    }
    return {{"peers", Level::kOk, std::to_string(*facts.peers) + " peers"}};
}

Checks check_stakes(const Facts& facts) {
    Checks out;
    for (const StakeFacts& stake : facts.stakes) {
        if (stake.staked.grains == 0) {
            continue;  // the account does not have this role
        }
        const std::string text = stake.name + " has " + assay::to_text(stake.staked) + " at stake as " + stake.role +
                                 (stake.operator_account.empty() ? "" : ", its operator is " + stake.operator_account);
        if (stake.staked < stake.least) {
            out.push_back(
                {"stakes", Level::kWarning,
                 text + ", and " + assay::to_text(stake.least) + " are the least: it has no duties and no pay",
                 "assay stake bond " + stake.role + " \"" +
                     assay::to_text(Amount{stake.least.grains - stake.staked.grains}) + "\" --from " + stake.name}
            );
        } else {
            out.push_back({"stakes", Level::kOk, text});
        }
    }
    return out;
}

std::string validator_warning(Amount free, Amount least) {
    if (free >= least) {
        return "";
    }
    return "the account has " + assay::to_text(free) + " of free validator stake, and " + assay::to_text(least) +
           " are the least: the chain refuses the registration. First: assay stake bond validator \"" +
           assay::to_text(Amount{least.grains - free.grains}) + "\"";
}

Checks check_sandbox(const Facts& facts) {
    if (!facts.sandbox.is_on) {
        return {
            {"sandbox", Level::kWarning,
             "it is off: files that strangers wrote are parsed with all that a program may do",
             "leave --sandbox off and ASSAY_SANDBOX out"}};
    }
    if (!facts.sandbox.error.empty()) {
        return {
            {"sandbox", Level::kFailure, facts.sandbox.error,
             "install assay-parser beside assay, on a kernel with seccomp; assay-worker does not start without"}};
    }
    return {{"sandbox", Level::kOk, "strangers' files are parsed in a process that can do nothing else"}};
}

Checks check_relays(const Facts& facts) {
    Checks out;
    for (const RelayFacts& each : facts.relays) {
        if (each.trouble.empty()) {
            out.push_back({"relay", Level::kOk, each.relay + " answers, and would take a worker"});
        } else {
            out.push_back(
                {"relay", Level::kFailure, each.relay + ": " + each.trouble,
                 "until a worker is registered at a relay nobody fetches what it has made, which can cost its bond: "
                 "look at the relay, or give the worker another --relay besides"}
            );
        }
    }
    return out;
}

std::vector<std::string> relays_of_service(const std::string& settings) {
    constexpr std::string_view kName = "ASSAY_WORKER_OPTIONS=";
    constexpr std::string_view kOption = "--relay";
    std::vector<std::string> out;
    std::istringstream lines(settings);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(kName)) {
            continue;
        }
        out.clear();  // the last line is the one that counts
        line.erase(0, kName.size());
        std::erase_if(line, [](char c) { return c == '"' || c == '\''; });
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            if (word.starts_with("--relay=")) {
                out.push_back(word.substr(kOption.size() + 1));
            } else if (word == kOption && words >> word) {
                out.push_back(word);
            }
        }
    }
    return out;
}

Checks check_gpu(const Facts& facts) {
    if (!facts.gpu.has_worker) {
        return {};
    }
    if (facts.gpu.devices.empty()) {
        return {{"gpu", Level::kOk, "no GPU of NVIDIA is visible: assay-worker computes on the CPU"}};
    }
    Checks out;
    for (const std::string& device : facts.gpu.devices) {
        out.push_back({"gpu", Level::kOk, device});
    }
    return out;
}

Checks check_all(const Facts& facts) {
    Checks out;
    for (Checks (*check)(const Facts&) :
         {&check_node, &check_clock, &check_versions, &check_disk, &check_ports, &check_keys, &check_peers,
          &check_stakes, &check_sandbox, &check_relays, &check_gpu}) {
        Checks part = check(facts);
        std::move(part.begin(), part.end(), std::back_inserter(out));
    }
    return out;
}

bool has_failure(const Checks& checks) {
    return std::any_of(checks.begin(), checks.end(), [](const Check& each) { return each.level == Level::kFailure; });
}

nlohmann::json to_json(const Checks& checks) {
    auto list = nlohmann::json::array();
    for (const Check& check : checks) {
        list.push_back(
            {{"name", check.name}, {"level", to_string(check.level)}, {"text", check.text}, {"advice", check.advice}}
        );
    }
    return {{"ok", !has_failure(checks)}, {"checks", std::move(list)}};
}

std::string to_text(const Checks& checks) {
    constexpr std::size_t kLevelWidth = 9;
    constexpr std::size_t kNameWidth = 10;
    const auto padded = [](std::string text, std::size_t width) {
        text.resize(std::max(text.size() + 1, width), ' ');
        return text;
    };
    std::string out;
    for (const Check& check : checks) {
        out += padded(to_string(check.level), kLevelWidth) + padded(check.name, kNameWidth) + check.text + "\n";
        if (!check.advice.empty()) {
            out += std::string(kLevelWidth + kNameWidth, ' ') + "-> " + check.advice + "\n";
        }
    }
    return out;
}

}  // namespace assay::cli::doctor
