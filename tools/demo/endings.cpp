// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/endings.hpp>

#include <cstdint>
#include <set>
#include <variant>

namespace assay::demo {
namespace {

using namespace contracts;

/// What a task's history says of verdicts and money.
struct Tally {
    std::uint64_t escrow = 0;
    std::uint64_t refunded = 0;  ///< to the submitter
    std::uint64_t rewarded = 0;
    std::uint64_t committed = 0;
    std::uint64_t draws = 0;  ///< blocks in which verifiers were drawn
    std::set<Reason> slashed{};
    std::set<AccountId> losers{};
};

Tally tally_of(const Act& act) {
    Tally tally;
    AccountId submitter;
    std::set<std::uint64_t> drawn_at;
    for (const HistoryRecord& record : act.story->records()) {
        if (const auto* submitted = std::get_if<history::Submitted>(&record.event)) {
            submitter = record.actor;
            tally.escrow = submitted->escrow.grains;
        } else if (const auto* paid = std::get_if<history::Paid>(&record.event)) {
            const bool is_refund = paid->reason == Reason::kRefund && paid->to == submitter;
            tally.refunded += is_refund ? paid->amount.grains : 0;
            tally.rewarded += paid->reason == Reason::kReward ? paid->amount.grains : 0;
        } else if (const auto* slashed = std::get_if<history::Slashed>(&record.event)) {
            tally.slashed.insert(slashed->reason);
            tally.losers.insert(slashed->from);
        }
        tally.committed += std::holds_alternative<history::VerdictCommitted>(record.event) ? 1U : 0U;
        if (std::holds_alternative<history::VerifierDrawn>(record.event)) {
            drawn_at.insert(record.height.value);
        }
    }
    tally.draws = drawn_at.size();
    return tally;
}

struct Complaints {
    void expect(bool holds, const std::string& complaint) {
        if (!holds) {
            complaints.push_back(complaint);
        }
    }
    std::vector<std::string> complaints;
};

}  // namespace

std::vector<std::string> judge_unserved(const Act& act) {
    static const std::set<Reason> kAllowed{Reason::kMissedVerdict, Reason::kUnserved};
    const Tally tally = tally_of(act);
    Complaints out;
    out.expect((tally.committed == 0) == (act.fraud == Fraud::kWithholdAll), "somebody judged what nobody could fetch, or nobody judged what could be fetched");
    out.expect(tally.slashed.contains(Reason::kUnserved), "the solver kept its bond");
    out.expect(tally.draws >= 2, "no other verifiers were drawn");
    out.expect(tally.rewarded == 0, "a solver that served nobody was paid");
    out.expect(tally.refunded == tally.escrow, "the submitter did not get the whole escrow back");
    for (const Reason reason : tally.slashed) {
        out.expect(kAllowed.contains(reason), std::string("somebody lost stake by ") + to_string(reason));
    }
    return out.complaints;
}

std::vector<std::string> judge_invented(const Act& act) {
    const Tally tally = tally_of(act);
    Complaints out;
    out.expect(act.refusals.contains("no_divergence"), "the chain refused no divergence, so nothing was tried");
    out.expect(
        tally.slashed == std::set{Reason::kMissedVerdict} && tally.losers.size() == 1,
        "not the verifier alone lost stake, by the verdicts that it did not publish"
    );
    out.expect(tally.draws >= 2, "no other verifiers were drawn");
    out.expect(tally.rewarded > 0, "the honest solver was not paid");
    return out.complaints;
}

}  // namespace assay::demo
