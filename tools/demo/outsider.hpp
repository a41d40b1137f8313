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

#include <contracts/state/transaction.hpp>
#include <contracts/state/task.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>

/// Attackers that are no party to the demo's own task.
namespace assay::demo {

/// Somebody who attacks the chain beside the demo's own task, with accounts of its own.
class Outsider {
  public:
    /// Its accounts, and what each has at genesis.
    using Funds = std::map<std::string, Amount>;
    /// Makes the spec of the demo's own task, judged in the given mode.
    using Packer = std::function<contracts::TaskSpec(contracts::Mode)>;

    Outsider(Network& network, Funds funds) : network_(network), funds_(std::move(funds)) {}
    virtual ~Outsider() = default;
    Outsider(const Outsider&) = delete;
    Outsider& operator=(const Outsider&) = delete;

    const Funds& funds() const { return funds_; }
    /// Gives its accounts their money at genesis.
    void add_actors();
    /// The tasks that it submitted; what is in their escrows is still its own.
    const std::vector<contracts::TaskId>& tasks() const { return tasks_; }

    /// Called once, when all workers are ready and before the demo's own task is submitted.
    virtual void prepare(const Packer& pack);
    /// Called about once a block while `own`, the demo's own task, is not over.
    virtual void act(const contracts::Task& own) = 0;
    /// Whether nothing that it began can cost anybody anything any more. The demo waits for it.
    virtual bool is_over();
    /// What honest accounts lost by it that no task's history shows, in grains.
    virtual std::uint64_t harm();
    /// Whether it and the dishonest parties to the demo's own task have one owner.
    virtual bool is_accomplice() const;
    /// What it did, in the shape that docs/operations/demo.md documents.
    virtual nlohmann::json report() = 0;
    /// What is not as it should be, in words.
    virtual std::vector<std::string> judge(const nlohmann::json& report) const = 0;

  protected:
    /// Whether what is kept from being heard about the task now costs somebody a stake.
    static bool is_judged(const contracts::Task& own);
    nlohmann::json account(const std::string& name);
    std::uint64_t gas_of(const contracts::Action& action);
    /// The fee of `action` from any account at so many hundredths of the base fee.
    Amount fee_of(const contracts::Action& action, std::uint64_t percent = 150);
    /// The least verification fee that the chain takes for the task (WRK-6).
    Amount least_fee(const contracts::TaskSpec& spec);
    /// What a node said of a transaction: its hash, or why it was refused.
    struct Answer {
        std::optional<Hash256> tx;
        std::string refusal;
    };
    /// Signs and submits.
    Answer submit(const std::string& name, std::uint64_t nonce, Amount fee, const contracts::Action& action);
    /// Submits a task behind what the account has sent already; false when the mempool refuses it.
    bool submit_task(const std::string& name, const contracts::TaskSpec& spec);
    /// Sends a cancellation of each of its tasks, all of which the account has submitted.
    void cancel_tasks(const std::string& name);
    /// What became of its tasks: {"submitted", "drawn", "accepted", "slashed", "states"}: how many there are; how often somebody was
    /// drawn to solve or to profile one; how often a solver accepted; what was slashed for them, in grains, but for declined draws; how many are in which state.
    nlohmann::json tally();

    Network& network_;

  private:
    Funds funds_;
    std::vector<contracts::TaskId> tasks_;
};

/// The outsider of a fraud; nullptr where nobody attacks but parties to the task. `narrator` outlives it.
std::unique_ptr<Outsider> make_outsider(Fraud fraud, Network& network, Narrator& narrator);

}  // namespace assay::demo
