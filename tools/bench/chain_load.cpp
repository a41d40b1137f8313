// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/chain_load.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include <core/crypto/hash.hpp>

namespace assay::bench {
namespace {

constexpr Amount kBalance{1'000'000'000'000'000};
constexpr Amount kChainLoadFee{1'000'000'000};  // enough for some ninety full blocks in a row (FEE-2)

crypto::SecretKey make_key(std::uint64_t number) {
    const std::string text = "bench sender " + std::to_string(number);
    auto key = crypto::SecretKey::from_bytes(crypto::sha256(as_bytes(text)).view());
    if (!key) {
        throw std::runtime_error("no key " + std::to_string(number));
    }
    return *key;
}

}  // namespace

std::uint64_t mix(std::uint64_t& state) {
    std::uint64_t z = state += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

AccountId account_numbered(std::uint64_t number) {
    AccountId out;
    out.data = crypto::sha256(as_bytes("bench account " + std::to_string(number))).data;
    return out;
}

Load::Load(std::uint64_t senders, std::uint64_t accounts, unsigned lanes) : accounts_(accounts), lanes_(lanes) {
    for (std::uint64_t i = 0; i < senders; ++i) {
        const crypto::SecretKey key = make_key(i);
        lanes_[i % lanes].push_back({.key = key, .account = key.account()});
    }
}

contracts::Genesis Load::genesis() const {
    contracts::Genesis genesis{.chain_id = kChainId, .params = {}, .balances = {}};
    genesis.params.block_gas_max = ~std::uint32_t{0};            // what the machine does, not what the chain allows
    genesis.params.duty_gas_max = genesis.params.block_gas_max;  // PAR-12
    for (const AccountId& sender : senders()) {
        genesis.balances[sender] = kBalance;
    }
    for (std::uint64_t i = 0; i < accounts_; ++i) {
        genesis.balances[account_numbered(i)] = Amount{1};
    }
    return genesis;
}

std::vector<AccountId> Load::senders() const {
    std::vector<AccountId> out;
    for (const auto& lane : lanes_) {
        for (const Sender& sender : lane) {
            out.push_back(sender.account);
        }
    }
    return out;
}

std::vector<std::vector<Bytes>> Load::next(std::uint64_t count) {
    std::vector<std::vector<Bytes>> out(lanes_.size());
    std::vector<std::thread> threads;
    ++calls_;
    for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
        threads.emplace_back([&, lane] {
            fill(lane, (count + lane) / lanes_.size(), calls_ * lanes_.size() + lane, out[lane]);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return out;
}

void Load::fill(unsigned lane, std::uint64_t count, std::uint64_t seed, std::vector<Bytes>& out) {
    out.reserve(count);
    auto& senders = lanes_[lane];
    for (std::uint64_t i = 0; i < count; ++i) {
        Sender& sender = senders[i % senders.size()];
        contracts::TxBody body{
            .chain_id = kChainId,
            .sender = sender.account,
            .nonce = sender.nonce++,
            .fee = kChainLoadFee,
            .action = contracts::Transfer{.to = account_numbered(mix(seed) % accounts_), .amount = Amount{1}}};
        out.push_back(codec::encode(contracts::sign_tx(std::move(body), sender.key)));
    }
}

double own_cpu_seconds() {
    ::rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) {
        throw std::runtime_error("no account of the CPU time");
    }
    const auto seconds = [](const ::timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double thread_cpu_seconds() {
    ::timespec time{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) {
        throw std::runtime_error("no account of a thread's CPU time");
    }
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double cpu_seconds_of(int pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(in, line);
    // After the name, which may hold anything: state and ten more fields come before the two.
    std::istringstream rest(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    std::string skipped;
    for (int i = 0; i < 11; ++i) {
        rest >> skipped;
    }
    double user = 0;
    double system = 0;
    if (!(rest >> user >> system)) {
        throw std::runtime_error("the process " + std::to_string(pid) + " is gone");
    }
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::uint64_t size_on_disk(const std::filesystem::path& directory) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        bytes += entry.is_regular_file() ? entry.file_size() : 0;
    }
    return bytes;
}

}  // namespace assay::bench
