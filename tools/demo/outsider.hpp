// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/transaction/transaction.hpp>
#include <contracts/state/task.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>

/// Outsiders: attackers that are not a party to the demo's own task.
namespace assay::demo {

/// An attacker that acts on the chain beside the demo's own task, with accounts of its own.
class Outsider {
  public:
    /// Its accounts and their balances at genesis.
    using Funds = std::map<std::string, Amount>;
    /// Returns the spec of the demo's own task, judged in the given mode.
    using Packer = std::function<contracts::TaskSpec(contracts::Mode)>;

    Outsider(Network& network, Funds funds) : network_(network), funds_(std::move(funds)) {}
    virtual ~Outsider() = default;
    Outsider(const Outsider&) = delete;
    Outsider& operator=(const Outsider&) = delete;

    const Funds& funds() const { return funds_; }
    /// Adds its accounts to the genesis.
    void add_actors();
    /// The tasks that it submitted. The money in their escrows still counts as its own.
    const std::vector<contracts::TaskId>& tasks() const { return tasks_; }

    /// Called once, when all workers are ready and before the demo's own task is submitted.
    virtual void prepare(const Packer& pack);
    /// Called about once per block while `own`, the demo's own task, is not over.
    virtual void act(const contracts::Task& own) = 0;
    /// Returns true when nothing that it started can cost anybody anything any more. The demo waits for that.
    virtual bool is_over();
    /// Returns the losses of honest accounts that no task's history shows, in grains.
    virtual std::uint64_t harm();
    /// Returns true if it has the same owner as the dishonest parties to the demo's own task.
    virtual bool is_accomplice() const;
    /// Returns what it did, in the format of docs/operations/demo.md.
    virtual nlohmann::json report() = 0;
    /// Returns what is not as it should be, in words.
    virtual std::vector<std::string> judge(const nlohmann::json& report) const = 0;

  protected:
    /// Returns true if transactions about the task, when kept out of blocks now, would cost somebody a stake.
    static bool is_judged(const contracts::Task& own);
    nlohmann::json account(const std::string& name);
    std::uint64_t gas_of(const contracts::Action& action);
    /// Returns `percent` percent of the minimum fee for `action` at the current base fee; the same for any account.
    Amount fee_of(const contracts::Action& action, std::uint64_t percent = 150);
    /// Returns the minimum verification fee that the chain accepts for the task (WRK-6).
    Amount least_fee(const contracts::TaskSpec& spec);
    /// A node's response to a transaction: its hash, or why it was refused.
    struct Answer {
        std::optional<Hash256> tx;
        std::string refusal;
    };
    /// Signs and submits a transaction.
    Answer submit(const std::string& name, std::uint64_t nonce, Amount fee, const contracts::Action& action);
    /// Submits a task with the next nonce after what the account has sent. Returns false if the mempool refuses it.
    bool submit_task(const std::string& name, const contracts::TaskSpec& spec);
    /// Sends a cancellation for each of its tasks; the account must have submitted all of them.
    void cancel_tasks(const std::string& name);
    /// Returns {"submitted", "drawn", "accepted", "slashed", "states"} for its tasks: their number; how often a solver
    /// or profiler was drawn; how often a solver accepted; the grains slashed for them, except for declined draws; the
    /// number of tasks per state.
    nlohmann::json tally();

    Network& network_;

  private:
    Funds funds_;
    std::vector<contracts::TaskId> tasks_;
};

/// Returns the outsider of a fraud, or nullptr if only parties to the task attack. `narrator` must outlive it.
std::unique_ptr<Outsider> make_outsider(Fraud fraud, Network& network, Narrator& narrator);

}  // namespace assay::demo
