// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <core/crypto/keys.hpp>

namespace assay::bench {

inline constexpr const char* kChainId = "assay-bench";

/// Signed transfers from many senders. Within a lane they are valid one after the other; lanes share no sender.
class Load {
  public:
    /// Recipients are drawn from the accounts 0 to `accounts` - 1.
    Load(std::uint64_t senders, std::uint64_t accounts, unsigned lanes);

    /// Returns a genesis with these accounts; every sender has far more than it will send.
    contracts::Genesis genesis() const;
    std::vector<AccountId> senders() const;
    void set_accounts(std::uint64_t accounts) { accounts_ = accounts; }
    /// Returns the next `count` transfers, one list per lane; senders take turns.
    std::vector<std::vector<Bytes>> next(std::uint64_t count);

  private:
    struct Sender {
        crypto::SecretKey key;
        AccountId account;
        std::uint64_t nonce = 0;
    };
    void fill(unsigned lane, std::uint64_t count, std::uint64_t seed, std::vector<Bytes>& out);

    std::uint64_t accounts_;
    std::vector<std::vector<Sender>> lanes_;
    std::uint64_t calls_ = 0;
};

/// Returns an account whose key nobody has.
AccountId account_numbered(std::uint64_t number);

/// SplitMix64: good enough to choose accounts, and the same on every run.
std::uint64_t mix(std::uint64_t& state);

/// CPU time of this process (all threads), in seconds.
double own_cpu_seconds();
/// CPU time of the calling thread, in seconds.
double thread_cpu_seconds();
double cpu_seconds_of(int pid);

/// Returns the size in bytes of all files in a directory tree.
std::uint64_t size_on_disk(const std::filesystem::path& directory);

}  // namespace assay::bench
