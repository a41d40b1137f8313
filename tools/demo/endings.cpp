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
    std::uint64_t verifiers = 0;  ///< fees
    std::uint64_t committed = 0;
    std::uint64_t committees = 0;
    std::uint64_t attested = 0;
    std::uint64_t draws = 0;    ///< blocks in which verifiers were drawn
    std::uint64_t solvers = 0;  ///< draws of one
    std::uint64_t refused = 0;  ///< how often a solver has shown that its keys are wrong
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
            const bool is_fee = paid->reason == Reason::kVerificationFee || paid->reason == Reason::kProfilingFee;
            tally.verifiers += is_fee ? paid->amount.grains : 0;
        } else if (const auto* slashed = std::get_if<history::Slashed>(&record.event)) {
            tally.slashed.insert(slashed->reason);
            tally.losers.insert(slashed->from);
        }
        tally.committed += std::holds_alternative<history::VerdictCommitted>(record.event) ? 1U : 0U;
        tally.committees += std::holds_alternative<history::CommitteeDrawn>(record.event) ? 1U : 0U;
        tally.attested += std::holds_alternative<history::Attested>(record.event) ? 1U : 0U;
        tally.solvers += std::holds_alternative<history::SolverDrawn>(record.event) ? 1U : 0U;
        tally.refused += std::holds_alternative<history::KeysRefused>(record.event) ? 1U : 0U;
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

std::vector<std::string> judge_withheld(const Act& act) {
    const Tally tally = tally_of(act);
    Complaints out;
    out.expect(
        (tally.committed == 0) == (act.fraud == Fraud::kWithholdAll),
        "somebody judged what nobody could fetch, or nobody judged what could be fetched"
    );
    out.expect(tally.committees == 3 && tally.attested == 0, "not three committees found what was withheld");
    out.expect(tally.draws == 1, "other verifiers were drawn");
    out.expect(tally.slashed == std::set{Reason::kUnavailable}, "not the solver alone lost stake, by what it withheld");
    out.expect(tally.rewarded == 0, "a solver that served nobody was paid");
    out.expect(
        tally.refunded + tally.verifiers == tally.escrow, "the submitter did not get the rest of the escrow back"
    );
    return out.complaints;
}

std::vector<std::string> judge_keys(const Act& act) {
    const Tally tally = tally_of(act);
    const Reason wanted = act.fraud == Fraud::kWrongKeys      ? Reason::kWrongKeys
                          : act.fraud == Fraud::kKeysWithheld ? Reason::kKeysWithheld
                                                              : Reason::kWrongChunk;
    Complaints out;
    out.expect(
        tally.slashed == std::set{wanted} && tally.losers.size() == 1,
        "not the solver alone lost stake, or for something else"
    );
    out.expect(tally.rewarded == 0, "the solver was paid");
    return out.complaints;
}

std::vector<std::string> judge_refused(const Act& act) {
    const Tally tally = tally_of(act);
    Complaints out;
    out.expect(tally.refused == 1, "the first solver did not show, once, that its keys are not the task's");
    out.expect(tally.solvers >= 2, "no other solver was drawn");
    out.expect(tally.slashed.empty(), "somebody lost stake by what the submitter had shared");
    out.expect(tally.rewarded > 0, "the solver was not paid");
    return out.complaints;
}

std::vector<std::string> judge_invented(const Act& act) {
    const Tally tally = tally_of(act);
    Complaints out;
    out.expect(act.refusals.contains("no_divergence"), "the chain refused no divergence, so nothing was tried");
    out.expect(
        tally.slashed == std::set{Reason::kMissedVerdict, Reason::kUnserved} && tally.losers.size() == 2,
        "somebody lost more than the verifier by the verdicts that it did not publish, and the solver by attestations"
    );
    out.expect(tally.committees >= 1 && tally.attested >= 1, "no committee attested that the solver serves");
    out.expect(tally.draws >= 2, "no other verifiers were drawn");
    out.expect(tally.rewarded > 0, "the honest solver was not paid");
    return out.complaints;
}

}  // namespace assay::demo
