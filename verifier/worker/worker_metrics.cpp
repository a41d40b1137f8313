// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/worker_metrics.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>

namespace assay::worker {
namespace {

double to_double(std::uint64_t value) { return static_cast<double>(value); }
double to_double(Amount amount) { return static_cast<double>(amount.grains); }

/// A segment takes between a part of a second, in a demo, and hours.
std::vector<double> segment_bounds() { return {0.1, 0.3, 1, 3, 10, 30, 100, 300, 1'000, 3'000, 10'000}; }

}  // namespace

WorkerMetrics::WorkerMetrics(Mode mode, const std::string& account, const std::string& device)
    : idle_(registry_.gauge(
          {"assay_worker_idle",
           "1, with the reason why the worker has nothing to do; absent while it works.",
           {"reason"}}
      )),
      tasks_(registry_.gauge(
          {"assay_worker_tasks", "Tasks in which the account has work or a stake, by state.", {"state"}}
      )),
      segment_time_(registry_.histogram(
          {"assay_worker_segment_seconds",
           "Time that was spent on a segment, by whether it was trained or replayed; its count is that of segments.",
           {"work"}},
          segment_bounds()
      )),
      checkpoints_(registry_.counter({"assay_worker_checkpoints_posted_total", "Checkpoints that the worker posted."})),
      verdicts_(registry_.counter(
          {"assay_worker_verdicts_total",
           "Outcomes of replays, by kind: accept, doubt (to be replayed again), reject, or unable.",
           {"verdict"}}
      )),
      disputes_(registry_.gauge(
          {"assay_worker_disputes_open", "Open disputes of which the account is a party, by its side.", {"side"}}
      )),
      dispute_blocks_left_(registry_.gauge(
          {"assay_worker_dispute_blocks_left",
           "Blocks until the first deadline of a move that the account owes in a dispute; absent while it owes none."}
      )),
      breaker_(registry_.gauge(
          {"assay_worker_breaker_open", "1 while the worker takes no new work, because stake of it was slashed."}
      )),
      relay_(registry_.gauge(
          {"assay_worker_relay_registered", "1 while others can fetch through the relay, else 0.", {"relay"}}
      )),
      balance_(registry_.gauge(
          {"assay_worker_balance_grains", "Balance of the account; absent while the node does not say it."}
      )),
      stake_(registry_.gauge(
          {"assay_worker_stake_grains",
           "Stake of the account, by role and by what it can be used for.",
           {"role", "part"}}
      )),
      paid_(registry_.counter(
          {"assay_worker_paid_grains_total", "Grains that tasks paid to the account, by reason.", {"reason"}}
      )),
      slashed_(registry_.counter(
          {"assay_worker_slashed_grains_total",
           "Grains that were slashed from the account's stake, by reason.",
           {"reason"}}
      )),
      fees_(registry_.counter({"assay_worker_fees_grains_total", "Grains that the account spent in fees."})),
      store_(registry_.gauge(
          {"assay_worker_store_bytes",
           "Size of the artifacts on disk, by whether the worker made or fetched them.",
           {"kind"}}
      )),
      disk_free_(registry_.gauge(
          {"assay_worker_disk_free_bytes", "Space that is left to the worker on the file system of its home."}
      )),
      freed_(registry_.counter(
          {"assay_worker_store_freed_bytes_total",
           "Size of the artifacts that were deleted after their tasks were over."}
      )),
      height_(registry_.gauge({"assay_worker_node_height", "Height of the last block that the worker has seen."})),
      block_age_(registry_.gauge(
          {"assay_worker_node_block_age_seconds", "Seconds since the worker has last seen a new block."}
      )),
      node_errors_(registry_.counter(
          {"assay_worker_node_errors_total",
           "Failed attempts to ask the node, by kind: unreachable, or the name of the error that it answered.",
           {"kind"}}
      )),
      refused_(registry_.counter(
          {"assay_worker_transactions_refused_total",
           "Transactions that the chain did not take, by action.",
           {"action"}}
      )),
      process_(registry_) {
    registry_
        .gauge(
            {"assay_worker_info",
             "Role, account and device of the worker; the value is 1.",
             {"role", "account", "device"}}
        )
        .set({to_string(mode), account, device}, 1);
    breaker_.set(0);
    checkpoints_.set_total({}, 0);
    fees_.set_total({}, 0);
    freed_.set_total({}, 0);
}

void WorkerMetrics::on_event(const nlohmann::ordered_json& event) {
    const auto name = event.value("event", "");
    if (name == "verdict") {
        verdicts_.add({event.value("verdict", "")});
    } else if (name == "checkpoint") {
        checkpoints_.add();
    } else if (name == "refused") {
        refused_.add({event.value("action", "")});
    }
}

void WorkerMetrics::add_trained(std::chrono::duration<double> spent) {
    segment_time_.observe({"training"}, spent.count());
}

void WorkerMetrics::add_replayed(std::chrono::duration<double> spent) {
    segment_time_.observe({"replay"}, spent.count());
}

void WorkerMetrics::set_idle(std::optional<roles::Idle> reason) {
    idle_.clear();
    if (reason) {
        idle_.set({roles::to_string(*reason)}, 1);
    }
}

void WorkerMetrics::set_tasks(
    const std::map<contracts::TaskId, contracts::Task>& tasks, const AccountId& self, contracts::Role role,
    std::uint64_t height
) {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& [id, task] : tasks) {
        if (roles::is_in_work(task, self, role)) {
            ++counts[contracts::to_string(task.state)];
        }
    }
    tasks_.clear();
    for (const auto& [state, count] : counts) {
        tasks_.set({state}, to_double(count));
    }
    const std::lock_guard lock(mutex_);
    if (!seen_at_ || height > height_seen_) {
        seen_at_ = std::chrono::steady_clock::now();
        height_seen_ = height;
    }
}

void WorkerMetrics::set_disputes(
    const std::vector<contracts::Dispute>& open, const AccountId& self, std::uint64_t height
) {
    std::map<std::string, std::uint64_t> sides{{"challenger", 0}, {"responder", 0}};
    std::optional<std::uint64_t> left;
    for (const contracts::Dispute& dispute : open) {
        if (dispute.challenger != self && dispute.responder != self) {
            continue;
        }
        const bool is_challenger = dispute.challenger == self;
        ++sides[is_challenger ? "challenger" : "responder"];
        const bool is_responders =
            dispute.state() == contracts::DisputeState::kAwaiting || contracts::is_responders_turn(dispute);
        if (is_responders != is_challenger) {
            const std::uint64_t until = dispute.deadline().value;
            const std::uint64_t blocks = until - std::min(until, height);
            left = std::min(left.value_or(blocks), blocks);
        }
    }
    disputes_.clear();
    for (const auto& [side, count] : sides) {
        disputes_.set({side}, to_double(count));
    }
    dispute_blocks_left_.clear();
    if (left) {
        dispute_blocks_left_.set(to_double(*left));
    }
}

void WorkerMetrics::set_breaker(bool is_open) { breaker_.set(is_open ? 1 : 0); }

void WorkerMetrics::set_relay(const std::string& relay, bool is_registered) {
    relay_.set({relay}, is_registered ? 1 : 0);
}

void WorkerMetrics::set_earnings(const client::Earnings& earnings) {
    for (const auto& [reason, amount] : earnings.paid) {
        paid_.set_total({reason}, amount.grains);
    }
    for (const auto& [reason, amount] : earnings.slashed) {
        slashed_.set_total({reason}, amount.grains);
    }
    fees_.set_total({}, earnings.fees.grains);
}

void WorkerMetrics::add_node_error(const std::string& kind) { node_errors_.add({kind}); }
void WorkerMetrics::add_freed(std::uint64_t bytes) { freed_.add({}, bytes); }

void WorkerMetrics::set_readings(const WorkerReadings& readings) {
    balance_.clear();
    stake_.clear();
    if (readings.balance) {
        balance_.set(to_double(*readings.balance));
    }
    for (const auto& [role, stake] : readings.stakes) {
        stake_.set({role, "free"}, to_double(stake.free));
        stake_.set({role, "locked"}, to_double(stake.locked));
        stake_.set({role, "unbonding"}, to_double(stake.unbonding));
    }
    store_.set({"own"}, to_double(readings.own_bytes));
    store_.set({"fetched"}, to_double(readings.fetched_bytes));
    disk_free_.clear();
    if (readings.disk_free) {
        disk_free_.set(to_double(*readings.disk_free));
    }
}

std::string WorkerMetrics::scrape(const WorkerReadings& readings) {
    const std::lock_guard lock(mutex_);
    set_readings(readings);
    if (seen_at_) {
        height_.set(to_double(height_seen_));
        block_age_.set(std::chrono::duration<double>(std::chrono::steady_clock::now() - *seen_at_).count());
    }
    process_.update();
    return registry_.render();
}

}  // namespace assay::worker
