// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <verifier/worker/earnings_watch.hpp>
#include <verifier/worker/idle_watch.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {
namespace {

using contracts::Role;
using roles::Idle;
using roles::Misfit;

const AccountId kWorker{{1}};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a worker without stake names the command that adds what is missing") {
    roles::IdleView view;
    view.role = Role::kVerifier;
    view.free_stake = Amount{1'000'000'000};
    const roles::Idleness idleness{.reason = Idle::kNoStake, .stake_missing = Amount{1'500'000'000}};
    const std::string text = explain_idle(idleness, view);
    CHECK(contains(text, "is 1 ASY, 1.5 ASY less than the least bond"));
    CHECK(contains(text, "`assay stake bond verifier \"1.5 ASY\"`"));
}

TEST_CASE("tasks that do not fit are told with what each kind needs") {
    roles::IdleView view;
    view.role = Role::kSolver;
    view.terms.hardware_class = 1;
    const roles::Idleness idleness{
        .reason = Idle::kNoneFits,
        .stake_missing = Amount{2'000'000'000},
        .tasks = 4,
        .misfits = {{Misfit::kDeclined, 1}, {Misfit::kClass, 2}, {Misfit::kStake, 1}},
        .classes = {3, 4},
        .offers = {roles::Offer::kTooLittle}};
    const std::string text = explain_idle(idleness, view);
    CHECK(contains(text, "4 tasks are open that do not fit this worker"));
    CHECK(contains(text, "1 declined by this worker (too_little)"));
    CHECK(contains(text, "2 of hardware class 3, 4, where class 1 is registered"));
    CHECK(contains(text, "`assay stake bond solver \"2 ASY\"`"));
}

TEST_CASE("every reason and every misfit has words of its own") {
    std::set<std::string> said;
    for (int i = 1; i <= 14; ++i) {
        const auto reason = static_cast<Idle>(i);
        roles::Idleness idleness{.reason = reason, .stake_missing = Amount{1}, .tasks = 1};
        if (reason == Idle::kNoneFits) {
            for (int m = 1; m <= 11; ++m) {
                idleness.misfits = {{static_cast<Misfit>(m), 1}};
                if (static_cast<Misfit>(m) == Misfit::kDeclined) {
                    CHECK(!explain_idle(idleness, {}).empty());
                }
                CHECK(said.insert(explain_idle(idleness, {})).second);
            }
            continue;
        }
        CHECK(!std::string(roles::to_string(reason)).empty());
        CHECK(said.insert(explain_idle(idleness, {})).second);
    }
}

TEST_CASE("what a task paid and took is added up for one account, by reason") {
    const AccountId stranger{{2}};
    std::vector<contracts::HistoryRecord> history;
    const auto add = [&](contracts::HistoryEvent event) {
        contracts::HistoryRecord record;
        record.event = std::move(event);
        history.push_back(std::move(record));
    };
    const auto pay = [](const AccountId& to, std::uint64_t grains, contracts::Reason reason) {
        contracts::history::Paid paid;
        paid.to = to;
        paid.amount = Amount{grains};
        paid.reason = reason;
        return paid;
    };
    add(pay(kWorker, 5, contracts::Reason::kReward));
    add(pay(kWorker, 6, contracts::Reason::kReward));
    add(pay(stranger, 7, contracts::Reason::kReward));
    contracts::history::Slashed slashed;
    slashed.from = kWorker;
    slashed.amount = Amount{3};
    slashed.reason = contracts::Reason::kMissedVerdict;
    add(slashed);
    const TaskTally tally = tally_of(history, kWorker);
    CHECK(tally.paid == std::map<std::string, Amount>{{"reward", Amount{11}}});
    CHECK(tally.slashed == std::map<std::string, Amount>{{"missed_verdict", Amount{3}}});
    CHECK(tally_of({}, kWorker).is_empty());
    CHECK(in_words({}) == "nothing");
    CHECK(
        in_words({{"reward", Amount{1'500'000'000}}, {"tax", Amount{1}}}) == "1.5 ASY (reward), 0.000000001 ASY (tax)"
    );
    CHECK(paid_role("reward", Role::kVerifier) == "solver");
    CHECK(paid_role("verification_fee", Role::kSolver) == "verifier");
    CHECK(paid_role("jackpot", Role::kWhistleblower) == "whistleblower");
}

std::string scrape_of(WorkerMetrics& metrics) { return metrics.scrape({}); }

TEST_CASE("metrics count verdicts, time and disputes, and show why a worker is idle only while it is") {
    WorkerMetrics metrics(Mode::kVerify, "assay1account", "cpu");
    CHECK(contains(
        scrape_of(metrics), "\nassay_worker_info{role=\"verify\",account=\"assay1account\",device=\"cpu\"} 1\n"
    ));
    metrics.on_event({{"event", "verdict"}, {"verdict", "accept"}});
    metrics.on_event({{"event", "verdict"}, {"verdict", "accept"}});
    metrics.on_event({{"event", "checkpoint"}});
    metrics.on_event({{"event", "refused"}, {"action", "open_dispute"}});
    metrics.on_event({{"event", "train"}});
    metrics.add_replayed(std::chrono::milliseconds(200));
    metrics.set_idle(Idle::kNoStake);
    std::string text = scrape_of(metrics);
    CHECK(contains(text, "\nassay_worker_verdicts_total{verdict=\"accept\"} 2\n"));
    CHECK(contains(text, "\nassay_worker_checkpoints_posted_total 1\n"));
    CHECK(contains(text, "\nassay_worker_transactions_refused_total{action=\"open_dispute\"} 1\n"));
    CHECK(contains(text, "\nassay_worker_segment_seconds_bucket{work=\"replay\",le=\"0.1\"} 0\n"));
    CHECK(contains(text, "\nassay_worker_segment_seconds_bucket{work=\"replay\",le=\"0.3\"} 1\n"));
    CHECK(contains(text, "\nassay_worker_idle{reason=\"no_stake\"} 1\n"));
    CHECK(!contains(text, "\nassay_worker_balance_grains "));
    metrics.set_idle(std::nullopt);
    CHECK(!contains(scrape_of(metrics), "\nassay_worker_idle{"));

    metrics.set_disputes({}, kWorker, 7);
    CHECK(contains(scrape_of(metrics), "\nassay_worker_disputes_open{side=\"responder\"} 0\n"));
    CHECK(!contains(scrape_of(metrics), "\nassay_worker_dispute_blocks_left "));
    contracts::Dispute dispute;
    dispute.challenger = kWorker;
    metrics.set_disputes({dispute}, AccountId{{2}}, 7);
    CHECK(contains(scrape_of(metrics), "\nassay_worker_disputes_open{side=\"challenger\"} 0\n"));
    metrics.set_disputes({dispute}, kWorker, 7);
    CHECK(contains(scrape_of(metrics), "\nassay_worker_disputes_open{side=\"challenger\"} 1\n"));

    contracts::Task task;
    task.state = contracts::TaskState::kTraining;
    task.solver = kWorker;
    metrics.set_tasks({{task.id, task}}, kWorker, Role::kSolver, 12);
    metrics.set_earnings({.paid = {{"reward", Amount{9}}}, .slashed = {{"room", Amount{2}}}, .fees = Amount{4}});
    metrics.add_node_error("unreachable");
    metrics.add_freed(77);
    WorkerReadings readings{.balance = Amount{5}, .stakes = {}, .own_bytes = 3};
    readings.stakes["solver"].locked = Amount{8};
    text = metrics.scrape(readings);
    CHECK(contains(text, "\nassay_worker_tasks{state=\"training\"} 1\n"));
    CHECK(contains(text, "\nassay_worker_node_height 12\n"));
    CHECK(contains(text, "\nassay_worker_paid_grains_total{reason=\"reward\"} 9\n"));
    CHECK(contains(text, "\nassay_worker_slashed_grains_total{reason=\"room\"} 2\n"));
    CHECK(contains(text, "\nassay_worker_fees_grains_total 4\n"));
    CHECK(contains(text, "\nassay_worker_node_errors_total{kind=\"unreachable\"} 1\n"));
    CHECK(contains(text, "\nassay_worker_store_freed_bytes_total 77\n"));
    CHECK(contains(text, "\nassay_worker_balance_grains 5\n"));
    CHECK(contains(text, "\nassay_worker_stake_grains{role=\"solver\",part=\"locked\"} 8\n"));
    CHECK(contains(text, "\nassay_worker_store_bytes{kind=\"own\"} 3\n"));
}

}  // namespace
}  // namespace assay::worker
