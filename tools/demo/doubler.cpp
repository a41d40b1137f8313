// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/doubler.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

#include <consensus/cometbft/supervisor.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kDoublerCustomer = "customer";
constexpr const char* kDoublerPayee = "payee";
constexpr Amount kDoublerFunds{1'000'000'000'000};
constexpr Amount kPayment{1'000'000'000};
constexpr std::size_t kDishonest = kDoubledValidators - 1;
constexpr std::uint64_t kProposals = 8;
constexpr std::uint64_t kLeastRefused = 3;
constexpr std::chrono::minutes kDoublerPatience{2};
constexpr const char* kRefusal = "refused the proposal for block ";
constexpr const char* kReason = "a transaction that is not valid, not the sender's next one, or not paid for";

/// A program that starts CometBFT with the relay for its application.
void write_engine(
    const std::filesystem::path& file, const std::filesystem::path& engine, const std::string& application
) {
    {
        std::ofstream out(file);
        out << "#!/bin/sh\n"
            << "case \"$1\" in\n"
            << "  start) exec '" << engine.string() << "' \"$@\" '--proxy_app=" << application << "' ;;\n"
            << "  *) exec '" << engine.string() << "' \"$@\" ;;\n"
            << "esac\n";
        if (!out) {
            throw std::runtime_error("cannot write " + file.string());
        }
    }
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

}  // namespace

Doubler::Doubler(Network& network, Narrator& narrator) : Outsider(network, {}), narrator_(narrator) {
    const auto engine = cometbft::find_engine("");
    network_.add_actor(kDoublerCustomer, kDoublerFunds);
    network_.add_actor(kDoublerPayee, kPayment);
    const auto home = network_.worker_home("relay");
    std::filesystem::create_directories(home);
    relay_ = std::make_unique<AbciRelay>(
        home / "abci.sock", network_.validator_home(kDishonest) / "data" / "abci.sock", kProposals
    );
    write_engine(home / "cometbft", engine, relay_->address());
    network_.use_engine(kDishonest, (home / "cometbft").string());
}

Doubler::~Doubler() { stop(); }

void Doubler::stop() {
    stopping_ = true;
    if (customer_.joinable()) {
        customer_.join();
    }
}

/// One payment after the other, each until the client says what became of it.
void Doubler::pay(const std::string& url) {
    const crypto::SecretKey key = network_.key(kDoublerCustomer);
    const contracts::Transfer payment{.to = network_.key(kDoublerPayee).account(), .amount = kPayment};
    client::RpcClient client(url);
    while (!stopping_) {
        {
            const std::lock_guard lock(mutex_);
            ++transfers_.asked;
        }
        std::uint64_t Transfers::*outcome = &Transfers::confirmed;
        try {
            outcome = client.send(key, payment).code == 0 ? &Transfers::confirmed : &Transfers::failed;
        } catch (const std::exception&) {
            outcome = &Transfers::uncertain;  // it may be executed yet, and is not signed again
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        const std::lock_guard lock(mutex_);
        ++(transfers_.*outcome);
    }
}

void Doubler::prepare(const Packer& /*pack*/) {
    narrator_.heading(
        "validator node" + std::to_string(kDishonest) + " puts the first transaction of its proposals into them twice"
    );
    narrator_.plain("  a customer pays 1 ASY at a time by way of that validator, all the while");
    customer_ = std::thread([this, url = network_.node_url(kDishonest)] { pay(url); });
}

void Doubler::act(const contracts::Task& /*own*/) {
    if (relay_->doubled() > told_) {
        told_ = relay_->doubled();
        narrator_.plain(
            "  node" + std::to_string(kDishonest) + " has doubled a transaction in " + std::to_string(told_) +
            " proposals; the others have refused " + std::to_string(count_refusals().heights.size())
        );
    }
}

bool Doubler::is_over() {
    if (!waiting_since_) {
        waiting_since_ = std::chrono::steady_clock::now();
    }
    const bool is_impatient = std::chrono::steady_clock::now() - *waiting_since_ > kDoublerPatience;
    if (count_refusals().heights.size() < kLeastRefused && !is_impatient) {
        return false;
    }
    stop();
    return true;
}

Doubler::Refusals Doubler::count_refusals() {
    Refusals out;
    std::set<std::uint64_t> heights;
    for (std::size_t i = 0; i < network_.node_count(); ++i) {
        if (i == kDishonest) {
            continue;
        }
        std::ifstream in(network_.node_log(i));
        for (std::string line; std::getline(in, line);) {
            const std::size_t at = line.find(kRefusal);
            if (at != std::string::npos && line.find(kReason) != std::string::npos) {
                heights.insert(std::stoull(line.substr(at + std::string(kRefusal).size())));
                ++out.count;
            }
        }
    }
    out.heights.assign(heights.begin(), heights.end());
    return out;
}

std::uint64_t Doubler::balance(const std::string& name) {
    return std::stoull(account(name).at("balance").get<std::string>());
}

std::uint64_t Doubler::harm() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t moved = balance(kDoublerPayee) - kPayment.grains;
    const std::uint64_t wanted = transfers_.asked * kPayment.grains;
    return moved - std::min(moved, wanted);
}

json Doubler::report() {
    const Refusals refusals = count_refusals();
    std::uint64_t twice = 0;
    const std::uint64_t height = network_.rpc().height().value;
    std::set<std::string> seen;
    for (std::uint64_t at = 1; at <= height; ++at) {
        for (const json& tx : network_.rpc().call("chain_block", {{"height", at}}).at("txs")) {
            twice += seen.insert(tx.at("hash").get<std::string>()).second ? 0U : 1U;
        }
    }
    const std::lock_guard lock(mutex_);
    return {
        {"validators", network_.node_count()},
        {"doubled", relay_->doubled()},
        {"refused", refusals.heights.size()},
        {"refusals", refusals.count},
        {"transfers",
         {{"asked", transfers_.asked},
          {"confirmed", transfers_.confirmed},
          {"failed", transfers_.failed},
          {"uncertain", transfers_.uncertain},
          {"moved", (balance(kDoublerPayee) - kPayment.grains) / kPayment.grains}}},
        {"twice_in_blocks", twice},
        {"height", height}};
}

std::vector<std::string> Doubler::judge(const json& report) const {
    std::vector<std::string> complaints;
    const json& transfers = report.at("transfers");
    const auto count = [&transfers](const char* name) { return transfers.at(name).get<std::uint64_t>(); };
    if (count("failed") != 0 || count("moved") < count("confirmed") ||
        count("moved") > count("confirmed") + count("uncertain")) {
        complaints.push_back("not every payment moved exactly once: " + transfers.dump());
    }
    if (report.at("twice_in_blocks") != 0) {
        complaints.emplace_back("a block holds a transaction twice");
    }
    if (report.at("doubled") < kLeastRefused || report.at("refused") < kLeastRefused) {
        complaints.emplace_back("few proposals were doubled and refused, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
