// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <consensus/solo/block.hpp>
#include <consensus/state_machine.hpp>

namespace assay::solo::test {

/// A state machine small enough to see through. A transaction is four bytes: sender, nonce, a flag, and anything. A
/// flag of 1 is refused by every check; of 2 by rechecks only; with 4 it answers the duty whose number is in the
/// nonce's place. The app hash chains everything that finalize was given.
class ToyMachine : public consensus::StateMachine {
  public:
    struct State {
        Height height;
        Hash256 app_hash;
        std::map<std::uint8_t, std::uint64_t> nonces;
    };

    consensus::Info info() const override;
    Hash256 init(const contracts::Genesis& genesis) override;
    consensus::CheckResult check(ByteView tx, const Hash256& hash, consensus::CheckKind kind) const override;
    std::vector<Bytes> prepare(std::vector<Bytes> candidates, std::uint64_t max_bytes) const override;
    Result<void, consensus::ProposalError> process(const consensus::FinalizeRequest& proposal) const override;
    consensus::FinalizeResult finalize(const consensus::FinalizeRequest& block) override;
    void commit() override;
    consensus::QueryResult query(const consensus::QueryRequest& request) const override;

    /// What survives a crash.
    State durable() const;
    void restore(const State& state);
    std::uint64_t nonce_of(std::uint8_t sender) const;

    static constexpr std::uint64_t kTxGas = 11;
    /// More than these in a block are too much gas.
    std::size_t txs_max = 1'000'000;
    /// Whether a transaction's salt is its price for a unit of gas; else none has one. What every sender has.
    bool has_prices = false;
    std::uint64_t balance = 1'000'000;
    /// Duties below this are owed no more.
    std::atomic<std::uint8_t> owed_from = 0;

  private:
    bool is_owed(std::uint8_t duty) const { return duty >= owed_from; }

    mutable std::mutex mutex_;
    State committed_;
    std::optional<State> pending_;
};

Bytes toy_tx(std::uint8_t sender, std::uint8_t nonce, std::uint8_t flag = 0, std::uint8_t salt = 0);
AccountId toy_sender(std::uint8_t sender);
crypto::SecretKey toy_key(std::uint8_t seed);

/// A directory of its own that is removed with everything in it.
class TemporaryDirectory {
  public:
    /// In memory where there is such a place: most tests sync often, and few need a real disk.
    explicit TemporaryDirectory(bool on_disk = false);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

Bytes read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, ByteView bytes);

}  // namespace assay::solo::test
