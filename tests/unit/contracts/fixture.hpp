// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <contracts/state/slots.hpp>

/// A chain in memory for tests: signs and applies transactions, one block each, and after every block scans the whole
/// state for what must always hold, without the help of the invariants that it is there to test.
namespace assay::contracts::test {

class MapView final : public StateView {
  public:
    std::optional<Bytes> get(const Bytes& key) const override;
    void apply(const Changes& changes);
    const std::map<Bytes, Bytes>& slots() const { return slots_; }
    /// How many slots of this kind (the first byte of a key) were asked for so far.
    std::uint64_t reads(std::uint8_t kind) const { return reads_[kind]; }

  private:
    mutable std::array<std::uint64_t, 256> reads_{};
    std::map<Bytes, Bytes> slots_;
};

struct Actor {
    crypto::SecretKey key;
    AccountId id;
};
/// The actor whose secret key is `seed`.
Actor make_actor(std::uint8_t seed);

/// Short clocks, two segments checked, one verifier each, the same bonds whatever the value.
Params quick_params();

/// A task of 10 steps in segments of 4 (so 0..3), of a program that nobody executes.
TaskSpec make_spec();

Hash256 hash_of(std::string_view text);

inline constexpr std::uint64_t kCoin = 1'000'000'000;
inline constexpr std::uint64_t kRich = 1'000 * kCoin;
inline constexpr std::uint64_t kFee = 20'000'000;  ///< enough for nearly any transaction of these tests
inline constexpr const char* kChainId = "test-1";

class Chain {
  public:
    explicit Chain(const Params& params = quick_params());

    Actor submitter = make_actor(1);
    Actor solver = make_actor(2);
    Actor verifier = make_actor(3);
    Actor whistleblower = make_actor(4);
    Actor stranger = make_actor(5);  ///< has money, no stake
    Actor pauper = make_actor(6);    ///< has nothing
    std::vector<Actor> others;       ///< whom add_verifiers made

    /// Encoded and signed with the sender's next nonce and a sufficient fee.
    Bytes make_tx(const Actor& sender, const Action& action) const;
    Bytes make_tx(const Actor& sender, const Action& action, std::uint64_t nonce, Amount fee) const;
    /// A block with this one transaction; its code.
    std::uint8_t run(const Actor& sender, const Action& action);
    /// As run(); the code as an error, for comparisons.
    TxError fail(const Actor& sender, const Action& action) { return static_cast<TxError>(run(sender, action)); }
    const BlockOutcome& run_block(const std::vector<Bytes>& txs);
    void skip(std::uint64_t blocks);

    /// Bonds solver, verifier and whistleblower, 100 coins each.
    void bond_all();
    /// Empty blocks until a solver is drawn for it, as many as it takes (TASK-18).
    void await_solver(const TaskId& id);
    /// Submits, draws, accepts. The task's id. Where there are no verifiers one is there for the draw (TRM-3), and gone
    /// after it.
    TaskId start_task(const TaskSpec& spec);
    void post_checkpoints(const TaskId& id, const std::vector<Hash256>& roots);
    /// A task with all checkpoints (roots are hash_of("0"), ...) posted and completed.
    TaskId complete_task();
    /// As complete_task, and until verifiers are drawn.
    TaskId verifying_task();
    /// As verifying_task, and every verdict in: accepted.
    TaskId challenge_task();
    void commit_all(const TaskId& id);
    void publish_all(const TaskId& id);
    std::uint8_t commit(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root);
    std::uint8_t publish(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root);
    std::uint8_t disclose(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root);
    /// Every verdict that is secret yet, by its verifier.
    void disclose_all(const TaskId& id);
    /// Through the challenge windows, with what is to be disclosed after them.
    void end_windows(const TaskId& id);
    /// What commit, publish and disclose open for `who` and an end root; the states at its marks are probe_root's.
    VerdictOpening opening(const Actor& who, const TaskId& id, std::uint32_t segment, const Hash256& root) const;
    /// Without a probe where there is none of `who`'s.
    Assignment assignment(const Actor& who, const TaskId& id, std::uint32_t segment) const;

    Task task(const TaskId& id) const { return find_task(view, id).value(); }
    Stake stake(Role role, const Actor& actor) const { return get_stake(view, role, actor.id); }
    /// What was burned but for fees.
    std::uint64_t burned() const { return get_supply(view).burned.grains - burned_fees; }
    std::uint64_t balance(const Actor& actor) const { return get_account(view, actor.id).balance.grains; }
    /// Every payment and slash of the task so far with this reason: the amounts.
    std::vector<std::uint64_t> paid(const TaskId& id, Reason reason) const;
    std::vector<std::uint64_t> slashed(const TaskId& id, Reason reason) const;
    /// More verifiers, who bond so much each with the stranger's money.
    void add_verifiers(std::size_t count, Amount stake = {100 * kCoin});
    /// All actors above, and those verifiers.
    std::vector<const Actor*> actors() const;
    const Actor& actor_of(const AccountId& id) const;

    MapView view;
    Params params;
    Height height;
    BlockOutcome last;
    std::uint64_t floors = 0;       ///< FEE-1: what fees have brought the treasury so far
    std::uint64_t burned_fees = 0;  ///< FEE-1: what was burned of fees so far
    std::vector<HistoryRecord> history;
    std::uint32_t failed_checks = 0;  ///< what verdicts report on tasks that have checks (CHK-3)
    /// The engine's evidence and who did not vote, for the blocks to come.
    std::vector<Misbehaviour> misbehaviour;
    std::vector<ConsensusAddress> absent;
    /// What verifiers find after `probe` steps of a segment.
    std::function<Hash256(std::uint32_t segment, std::uint32_t probe)> probe_root = [](std::uint32_t, std::uint32_t) {
        return hash_of("probe");
    };

  private:
    BlockContext next_context() const;
    /// Gives the stranger's money to a verifier of its own, or takes it back.
    void lend_verifier(bool is_lent);
    void check_everything() const;
};

/// What the state as a whole must satisfy: LED-1, STK-3, STA-4, and the history roots. Empty when it does, else what
/// is wrong.
std::string find_fault(const MapView& view, Height height, const std::vector<HistoryRecord>& history);

}  // namespace assay::contracts::test
