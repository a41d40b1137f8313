// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <consensus/solo/engine.hpp>
#include <node/daemon/application.hpp>
#include <tests/simulation/events.hpp>

/// A node of the simulated network: the real state machine, database, block log and mempool, and in the place of an
/// engine a plain agreement among nodes that crash but do not lie about their votes (single-decree Paxos at each
/// height).
namespace assay::simulation {

/// A property does not hold.
class Broken : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What all replicas are checked against: what was decided, and what each state after it has to be.
class Ledger {
  public:
    /// Throws Broken when another block was decided at this height, or another state came of it.
    void note(const solo::LogRecord& record);
    std::uint64_t height() const { return blocks_.size(); }
    bool has_decided(const solo::Block& block) const;
    std::function<void(const solo::Block&)> on_block;  ///< the first time that a height is decided

  private:
    std::vector<std::pair<Hash256, Hash256>> blocks_;  ///< block and app hash, from height 1
};

enum class Death : std::uint8_t { kPlain, kTornLog, kBadDisk };

class Replica {
  public:
    Replica(
        Events& events, Ledger& ledger, const contracts::Genesis& genesis, int place, std::filesystem::path home,
        std::vector<std::unique_ptr<Replica>>& all
    );

    bool is_up() const { return app_ != nullptr; }
    void start();
    /// GOV-8: as its operators do: where the chain has halted so long ago, starts the node again with a program that
    /// executes the next block, and returns true. What waited in the mempool is lost. In memory alone.
    bool go_on_after(std::uint64_t halt_ms);
    /// kBadDisk: at its next write the disk tears it and is gone.
    void die(Death death);
    std::uint64_t height() const { return app_ ? app_->info().height.value : 0; }
    std::shared_ptr<const node::CommittedState> state() const { return app_->committed(); }
    Result<consensus::Admitted, consensus::Refusal> submit(const Bytes& tx);
    /// What waits for a block.
    std::vector<Bytes> waiting() const { return mempool_->candidates(~std::uint64_t{0}); }
    /// The nonce that the account's next transaction has, after what waits.
    std::uint64_t next_nonce(const AccountId& account) const;
    consensus::FinalizeRequest request_of(const solo::Block& block) const;
    int place() const { return place_; }
    std::uint64_t deaths = 0;
    std::uint64_t replayed = 0;
    std::uint64_t refused = 0;                         ///< blocks
    std::function<void(const Bytes&)> on_transaction;  ///< sees what the mempool takes, when it takes it
    /// Where there is one: what the state machine is told as the hash of the block of a height.
    std::function<Hash256(Height)> hash_at;
    bool lies = false;  ///< spoils what it proposes, damages what it serves
    /// Where true, before start(): database and log are in memory alone, so that a process may be copied with its
    /// replica. Such a replica neither dies nor serves blocks to others.
    bool in_memory = false;
    std::uint64_t block_bytes = 1U << 20U;  ///< of the transactions that it proposes at most

    static constexpr std::uint64_t kIntervalMs = 1'000;

  private:
    /// What of the agreement survives a death: written before it is told to anybody.
    struct Vote {
        std::uint64_t promised = 0;
        std::uint64_t accepted_ballot = 0;
        std::optional<solo::Block> accepted;
    };
    struct Proposal {
        std::uint64_t height = 0;
        std::uint64_t ballot = 0;
        std::map<int, std::pair<std::uint64_t, std::optional<solo::Block>>> promises;
        std::optional<solo::Block> block;
        std::set<int> accepts;
    };

    void tick();
    void to(int place, const std::function<void(Replica&)>& what);
    void to_all(const std::function<void(Replica&)>& what);
    bool is_majority(std::size_t count) const;
    void propose(std::uint64_t ballot);
    void on_prepare(int from, std::uint64_t height, std::uint64_t ballot);
    void on_promise(
        int from, std::uint64_t height, std::uint64_t ballot, std::uint64_t accepted_ballot,
        const std::optional<solo::Block>& accepted
    );
    void on_accept(int from, std::uint64_t ballot, const solo::Block& block);
    void on_accepted(int from, std::uint64_t height, std::uint64_t ballot);
    void on_decided(const solo::Block& block);
    void on_status(int from, std::uint64_t height);
    solo::Block make_block();
    bool refuses(const solo::Block& block);
    /// The last decided block; nullopt before the first.
    std::optional<solo::LogRecord> last_record() const;
    /// As `block` leaves us: damaged, perhaps, where we lie.
    solo::Block told(const solo::Block& block);

    Events& events_;
    Ledger& ledger_;
    const contracts::Genesis& genesis_;
    const int place_;
    const std::filesystem::path home_;
    std::vector<std::unique_ptr<Replica>>& all_;
    std::shared_ptr<bool> disk_fails_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<node::Application> app_;
    std::unique_ptr<solo::BlockLog> log_;  ///< null in memory
    std::optional<solo::LogRecord> last_;  ///< in memory
    std::unique_ptr<consensus::Mempool> mempool_;
    std::map<std::uint64_t, Vote> votes_;  ///< by height; on the disk
    std::optional<Proposal> proposal_;
    std::uint64_t decided_at_ms_ = 0;
    std::optional<std::uint64_t> halted_at_ms_;  ///< when go_on_after() saw it first
    std::uint64_t logged_ = 0;                   ///< the last height that was told to anybody as decided
    std::uint64_t life_ = 0;
};

}  // namespace assay::simulation
