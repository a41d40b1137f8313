// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/earnings_watch.hpp>

#include <utility>
#include <variant>

#include <core/base/amount.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLookEvery{30};
constexpr std::chrono::hours kSumEvery{1};
/// Of each listing at a time; a long history is read in several looks.
constexpr std::size_t kPagesAtOnce = 10;

nlohmann::ordered_json to_json(const std::map<std::string, Amount>& by_reason) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [reason, amount] : by_reason) {
        out[reason] = std::to_string(amount.grains);
    }
    return out;
}

}  // namespace

TaskTally tally_of(const std::vector<contracts::HistoryRecord>& history, const AccountId& account) {
    TaskTally out;
    for (const contracts::HistoryRecord& record : history) {
        if (const auto* paid = std::get_if<contracts::history::Paid>(&record.event); paid && paid->to == account) {
            out.paid[contracts::to_string(paid->reason)].grains += paid->amount.grains;
        }
        const auto* slashed = std::get_if<contracts::history::Slashed>(&record.event);
        if (slashed != nullptr && slashed->from == account) {
            out.slashed[contracts::to_string(slashed->reason)].grains += slashed->amount.grains;
        }
    }
    return out;
}

std::string paid_role(const std::string& reason, contracts::Role own) {
    if (reason == "reward") {
        return contracts::to_string(contracts::Role::kSolver);
    }
    if (reason == "verification_fee" || reason == "profiling_fee" || reason == "attestation") {
        return contracts::to_string(contracts::Role::kVerifier);
    }
    return reason == "refund" ? "submitter" : contracts::to_string(own);
}

std::string in_words(const std::map<std::string, Amount>& by_reason) {
    std::string out;
    for (const auto& [reason, amount] : by_reason) {
        out += (out.empty() ? "" : ", ") + to_text(amount) + " (" + reason + ")";
    }
    return out.empty() ? "nothing" : out;
}

EarningsWatch::EarningsWatch(WorkerContext& context) : context_(context), summed_at_(Clock::now()) {}

void EarningsWatch::read(std::size_t pages_max) {
    client::RpcClient& rpc = context_.chain.rpc();
    if (!reader_) {
        since_ = rpc.height();
        reader_.emplace(context_.chain.self(), since_);
    }
    reader_->read(
        [&rpc](const std::string& method, const nlohmann::json& params) { return rpc.call(method, params); }, pages_max
    );
    for (const client::TaskPayment& payment : reader_->take_payments()) {
        const std::string role = paid_role(payment.reason, role_of(context_.options.mode));
        context_.reporter.notice(
            "paid " + to_text(payment.amount) + " as " + role + " (" + payment.reason + ") by task " + payment.task,
            {{"event", "paid"},
             {"task", payment.task},
             {"role", role},
             {"reason", payment.reason},
             {"amount", std::to_string(payment.amount.grains)},
             {"height", payment.height}}
        );
    }
    if (context_.metrics != nullptr) {
        context_.metrics->set_earnings(reader_->earnings());
    }
}

void EarningsWatch::look() {
    const auto now = Clock::now();
    if (looked_at_ && now - *looked_at_ < kLookEvery) {
        return;
    }
    looked_at_ = now;
    try {
        read(kPagesAtOnce);
    } catch (const client::RpcError& error) {  // such as a node that has no such method: no reason to do no work
        context_.reporter.trouble(std::string("what the account earned cannot be read: ") + error.what());
    }
    if (now - summed_at_ >= kSumEvery) {
        summed_at_ = now;
        if (reader_->earnings() != summed_) {
            report_sum();
        }
    }
}

bool EarningsWatch::has_worked_on(const contracts::Task& task) const {
    const Chain& chain = context_.chain;
    if (!context_.journal.knows(task.id) && !chain.was_open(task.id)) {
        return false;  // over before this process began, and reported then
    }
    return roles::is_in_work(task, chain.self(), role_of(context_.options.mode)) || context_.journal.knows(task.id);
}

void EarningsWatch::report_end(const contracts::Task& task) {
    if (!has_worked_on(task)) {
        return;
    }
    TaskTally tally;
    try {
        tally = tally_of(context_.chain.history(task.id), context_.chain.self());
    } catch (const client::RpcError& error) {
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + " is over, and its payments cannot be read: " + error.what()
        );
        return;
    }
    const std::string id = to_hex(task.id.view());
    const std::string state = contracts::to_string(task.state);
    context_.reporter.notice(
        "task " + id + " is " + state + ": it paid " + in_words(tally.paid) + " to this account" +
            (tally.slashed.empty() ? "" : " and took " + in_words(tally.slashed)),
        {{"event", "settled"},
         {"task", id},
         {"title", task.spec.title},
         {"state", state},
         {"paid", to_json(tally.paid)},
         {"slashed", to_json(tally.slashed)}}
    );
    looked_at_.reset();  // its payments are news
}

void EarningsWatch::report_sum() {
    const client::Earnings& earnings = reader_->earnings();
    summed_ = earnings;
    context_.reporter.notice(
        "earnings since block " + std::to_string(since_.value) + ": paid " + to_text(earnings.total_paid()) +
            ", slashed " + to_text(earnings.total_slashed()) + ", fees " + to_text(earnings.fees) + " of " +
            std::to_string(earnings.transactions) + " transactions",
        {{"event", "earnings"},
         {"since", since_.value},
         {"paid", to_json(earnings.paid)},
         {"slashed", to_json(earnings.slashed)},
         {"fees", std::to_string(earnings.fees.grains)},
         {"transactions", earnings.transactions}}
    );
}

void EarningsWatch::finish() {
    try {
        read(kPagesAtOnce);
    } catch (const std::exception&) {
        // Without the node the sum is that of the last look.
    }
    if (reader_) {
        report_sum();
    }
}

}  // namespace assay::worker
