// SPDX-License-Identifier: Apache-2.0
#include <node/metrics/chain_metrics.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/tx_error.hpp>
#include <core/crypto/address.hpp>

namespace assay::metrics {
namespace {

namespace history = contracts::history;
using contracts::TaskState;

constexpr std::uint32_t kPage = 100;

double to_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// The last committed state, as the node answers about it.
class ApiView final : public contracts::StateView {
  public:
    explicit ApiView(const node::NodeApi& api) : api_(api) {}
    std::optional<Bytes> get(const Bytes& key) const override { return api_.state(key); }

  private:
    const node::NodeApi& api_;
};

}  // namespace

ChainMetrics::ChainMetrics(Registry& r)
    : blocks_(r.counter({"assay_blocks_executed_total", "Blocks that this process executed and committed."})),
      execution_time_(r.histogram(
          {"assay_block_execution_seconds", "Time in which a block was executed, without its commit."}, second_bounds()
      )),
      commit_time_(r.histogram(
          {"assay_block_commit_seconds", "Time in which a block was written to the database."}, second_bounds()
      )),
      block_gas_(r.gauge(
          {"assay_block_gas",
           "Gas that the last block used, by its transactions and by the deadlines and draws at its end.",
           {"part"}}
      )),
      block_txs_(r.gauge({"assay_block_transactions", "Number of transactions in the last block."})),
      gas_(r.counter(
          {"assay_gas_used_total",
           "Gas that blocks used, by transactions and by the deadlines and draws at the end of a block.",
           {"part"}}
      )),
      executed_(r.counter(
          {"assay_transactions_executed_total", "Transactions in blocks that were executed, by action.", {"action"}}
      )),
      failed_(r.counter({"assay_transactions_failed_total", "Transactions in blocks that failed, by error.", {"error"}})
      ),
      proofs_(r.counter({"assay_proofs_judged_total", "One-step proofs of disputes that were judged."})),
      tasks_(r.gauge({"assay_tasks", "Tasks that have not ended, by state.", {"state"}})),
      task_changes_(r.counter({"assay_task_state_changes_total", "Tasks that entered a state.", {"state"}})),
      tasks_submitted_(r.counter({"assay_tasks_submitted_total", "Tasks that were submitted."})),
      checkpoints_(r.counter({"assay_checkpoints_posted_total", "Checkpoints that solvers posted."})),
      verdicts_(r.counter(
          {"assay_verdicts_published_total",
           "Verdicts that verifiers published, by whether they accept the segment.",
           {"accepts"}}
      )),
      disputes_(r.gauge({"assay_disputes_open", "Disputes that have not ended, by state.", {"state"}})),
      disputes_opened_(
          r.counter({"assay_disputes_opened_total", "Disputes that were opened, by what they are about.", {"subject"}})
      ),
      dispute_moves_(r.counter({"assay_dispute_moves_total", "Moves in disputes, by party.", {"party"}})),
      disputes_ended_(r.counter(
          {"assay_disputes_ended_total",
           "Disputes that ended, by reason and by whether the disputed claim was refuted.",
           {"reason", "claim_refuted"}}
      )),
      payments_(
          r.counter({"assay_payments_total", "Payments out of escrows, bonds and the treasury, by reason.", {"reason"}})
      ),
      paid_(r.counter(
          {"assay_paid_grains_total",
           "Grains that were paid out of escrows, bonds and the treasury, by reason.",
           {"reason"}}
      )),
      slashes_(r.counter({"assay_slashes_total", "Slashes of bonds, by reason.", {"reason"}})),
      slashed_(r.counter({"assay_slashed_grains_total", "Grains that were slashed from bonds, by reason.", {"reason"}})
      ),
      burned_(r.counter(
          {"assay_slashed_burned_grains_total",
           "The part of the slashed grains that was burned, by reason.",
           {"reason"}}
      )),
      validators_(r.gauge({"assay_validators", "Number of validators in the set."})),
      power_(r.gauge({"assay_validators_power", "Voting power of all validators in the set together."})),
      account_disputes_(r.gauge(
          {"assay_account_disputes_open",
           "Open disputes of a watched account, by the account's side.",
           {"account", "side"}}
      )),
      account_blocks_left_(r.gauge(
          {"assay_account_dispute_blocks_left",
           "Blocks until the first deadline of a move that a watched account owes in a dispute; absent while it owes "
           "none.",
           {"account"}}
      )) {
    show_counts();
}

void ChainMetrics::add(Pending& pending, Counter& counter, Labels labels, std::uint64_t amount) const {
    pending.added.push_back({.counter = &counter, .labels = std::move(labels), .amount = amount});
}

void ChainMetrics::note_event(Pending& pending, const contracts::HistoryRecord& record) {
    if (std::holds_alternative<history::Submitted>(record.event)) {
        add(pending, tasks_submitted_, {});
    } else if (const auto* changed = std::get_if<history::StateChanged>(&record.event)) {
        add(pending, task_changes_, {contracts::to_string(changed->state)});
        pending.tasks.emplace_back(record.task, changed->state);
    } else if (std::holds_alternative<history::CheckpointPosted>(record.event)) {
        add(pending, checkpoints_, {});
    } else if (const auto* verdict = std::get_if<history::VerdictPublished>(&record.event)) {
        add(pending, verdicts_, {verdict->accepts ? "true" : "false"});
    } else if (std::holds_alternative<history::DisputeOpened>(record.event)) {
        add(pending, disputes_opened_, {"segment"});
    } else if (std::holds_alternative<history::VerdictChallenged>(record.event)) {
        add(pending, disputes_opened_, {"verdict"});
    } else if (std::holds_alternative<history::ProfileChallenged>(record.event)) {
        add(pending, disputes_opened_, {"profile"});
    } else if (std::holds_alternative<history::Accused>(record.event)) {
        add(pending, disputes_opened_, {"statement"});
    } else if (const auto* move = std::get_if<history::DisputeMoved>(&record.event)) {
        add(pending, dispute_moves_, {move->by_responder ? "responder" : "challenger"});
    } else if (const auto* end = std::get_if<history::DisputeEnded>(&record.event)) {
        add(pending, disputes_ended_, {contracts::to_string(end->reason), end->claim_refuted ? "true" : "false"});
    } else if (const auto* paid = std::get_if<history::Paid>(&record.event)) {
        add(pending, payments_, {contracts::to_string(paid->reason)});
        add(pending, paid_, {contracts::to_string(paid->reason)}, paid->amount.grains);
    } else if (const auto* slash = std::get_if<history::Slashed>(&record.event)) {
        add(pending, slashes_, {contracts::to_string(slash->reason)});
        add(pending, slashed_, {contracts::to_string(slash->reason)}, slash->amount.grains);
        add(pending, burned_, {contracts::to_string(slash->reason)}, slash->burned.grains);
    }
}

void ChainMetrics::on_executed(
    const contracts::BlockOutcome& outcome, std::size_t tx_count, std::chrono::nanoseconds time
) {
    Pending pending;
    pending.disputes = outcome.disputes;
    pending.validators = outcome.validator_updates;
    pending.end_gas = outcome.end_gas;
    pending.tx_count = tx_count;
    pending.time = time;
    for (const contracts::Receipt& receipt : outcome.receipts) {
        pending.gas += receipt.gas;
        if (receipt.code == 0) {
            add(pending, executed_, {receipt.action});
        } else {
            add(pending, failed_, {contracts::to_string(contracts::TxError{receipt.code})});
        }
    }
    for (const contracts::HistoryRecord& record : outcome.history) {
        note_event(pending, record);
    }
    add(pending, proofs_, {}, outcome.judged_proofs);
    add(pending, gas_, {"transactions"}, pending.gas);
    add(pending, gas_, {"end"}, pending.end_gas);
    const std::lock_guard lock(mutex_);
    pending_ = std::move(pending);
}

void ChainMetrics::on_committed(const contracts::StateView& after, std::chrono::nanoseconds time) {
    const std::lock_guard lock(mutex_);
    if (!pending_) {
        return;
    }
    for (const auto& [counter, labels, amount] : pending_->added) {
        counter->add(labels, amount);
    }
    for (const auto& [task, state] : pending_->tasks) {
        note_task(task, state);
    }
    for (const contracts::DisputeId& id : pending_->disputes) {
        note_dispute(id, contracts::find_dispute(after, id));
    }
    note_validators(pending_->validators);
    blocks_.add();
    block_gas_.set({"transactions"}, static_cast<double>(pending_->gas));
    block_gas_.set({"end"}, static_cast<double>(pending_->end_gas));
    block_txs_.set(static_cast<double>(pending_->tx_count));
    execution_time_.observe(to_seconds(pending_->time));
    commit_time_.observe(to_seconds(time));
    pending_.reset();
    show_counts();
}

void ChainMetrics::note_task(const contracts::TaskId& task, TaskState state) {
    if (contracts::is_terminal(state)) {
        open_tasks_.erase(task);
    } else {
        open_tasks_[task] = state;
    }
}

void ChainMetrics::note_dispute(const contracts::DisputeId& id, const std::optional<contracts::Dispute>& dispute) {
    if (!dispute || !contracts::is_open(dispute->state())) {
        open_disputes_.erase(id);
        return;
    }
    const bool is_awaiting = dispute->state() == contracts::DisputeState::kAwaiting;
    open_disputes_[id] = {
        .responder = dispute->responder,
        .challenger = dispute->challenger,
        .is_awaiting = is_awaiting,
        .is_responders_turn = is_awaiting || contracts::is_responders_turn(*dispute),
        .deadline = dispute->deadline()};
}

void ChainMetrics::note_validators(const std::vector<contracts::ValidatorUpdate>& updates) {
    for (const auto& [key, power] : updates) {
        if (power == 0) {
            powers_.erase(key);
        } else {
            powers_[key] = power;
        }
    }
}

void ChainMetrics::show_counts() {
    std::map<TaskState, std::uint64_t> tasks;
    for (auto state = TaskState::kOpen; contracts::is_valid(state);
         state = static_cast<TaskState>(static_cast<std::uint8_t>(state) + 1)) {
        if (!contracts::is_terminal(state)) {
            tasks[state] = 0;  // shown as 0, so that a graph has no holes
        }
    }
    for (const auto& [task, state] : open_tasks_) {
        ++tasks[state];
    }
    for (const auto& [state, count] : tasks) {
        tasks_.set({contracts::to_string(state)}, static_cast<double>(count));
    }
    const auto awaiting = std::count_if(open_disputes_.begin(), open_disputes_.end(), [](const auto& each) {
        return each.second.is_awaiting;
    });
    disputes_.set({"awaiting"}, static_cast<double>(awaiting));
    disputes_.set({"active"}, static_cast<double>(open_disputes_.size()) - static_cast<double>(awaiting));
    std::uint64_t power = 0;
    for (const auto& [key, each] : powers_) {
        power += each;
    }
    validators_.set(static_cast<double>(powers_.size()));
    power_.set(static_cast<double>(power));
}

void ChainMetrics::seed(const node::NodeApi& api, const std::vector<contracts::ValidatorUpdate>& validators) {
    const ApiView view(api);
    const std::lock_guard lock(mutex_);
    open_tasks_.clear();
    open_disputes_.clear();
    powers_.clear();
    note_validators(validators);
    for (std::optional<std::uint64_t> from = 0; from;) {
        const auto page = api.tasks(*from, kPage, node::Order::kOldest);
        for (const contracts::TaskId& id : page.items) {
            if (const auto task = contracts::find_task(view, id)) {
                note_task(id, task->state);
            }
        }
        from = page.next;
    }
    for (std::optional<std::uint64_t> from = 0; from;) {
        const auto page = api.disputes(std::nullopt, *from, kPage, node::Order::kOldest);
        for (const contracts::DisputeId& id : page.items) {
            note_dispute(id, contracts::find_dispute(view, id));
        }
        from = page.next;
    }
    show_counts();
}

void ChainMetrics::show_accounts(const std::vector<node::WatchedAccount>& accounts, Height height) {
    const std::lock_guard lock(mutex_);
    account_blocks_left_.clear();
    for (const node::WatchedAccount& watched : accounts) {
        std::uint64_t as_responder = 0;
        std::uint64_t as_challenger = 0;
        std::optional<std::uint64_t> left;
        for (const auto& [id, dispute] : open_disputes_) {
            as_responder += dispute.responder == watched.account ? 1U : 0U;
            as_challenger += dispute.challenger == watched.account ? 1U : 0U;
            if ((dispute.is_responders_turn ? dispute.responder : dispute.challenger) == watched.account) {
                const std::uint64_t mine = std::max(dispute.deadline, height).value - height.value;
                left = std::min(left.value_or(mine), mine);
            }
        }
        const std::string address = crypto::to_address(watched.account);
        account_disputes_.set({address, "responder"}, static_cast<double>(as_responder));
        account_disputes_.set({address, "challenger"}, static_cast<double>(as_challenger));
        if (left) {
            account_blocks_left_.set({address}, static_cast<double>(*left));
        }
    }
}

}  // namespace assay::metrics
