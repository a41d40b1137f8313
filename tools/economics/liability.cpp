// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/liability.hpp>

#include <algorithm>
#include <limits>

#include <contracts/params/gas.hpp>
#include <contracts/state/group.hpp>
#include <contracts/state/params.hpp>
#include <contracts/transaction/transaction.hpp>
#include <tools/economics/committee.hpp>
#include <tools/economics/groups.hpp>

namespace assay::economics {
namespace {

std::uint64_t gas_of_action(contracts::Action action, std::size_t size_bytes) {
    const contracts::Tx tx{{"", {}, 0, {}, std::move(action)}, {}};
    return contracts::gas_of(tx, size_bytes, contracts::Params{});
}

/// At the fee that clients pay while blocks are not full.
double fee_of_action(const contracts::Action& action, std::size_t size_bytes) {
    const double price = 1.5 * static_cast<double>(contracts::Params{}.gas_price_min.grains);
    return price * static_cast<double>(gas_of_action(action, size_bytes)) / static_cast<double>(kGrainsPerAsy);
}

/// What a game costs its honest party beyond what the loser's bond pays it.
double cost_of_game(const Setting& s, Grains losers_bond) {
    return std::max(0.0, to_asy(s.dispute_cost) - to_asy(s.winners_share(losers_bond)));
}

/// What a conviction for a statement takes of a member's bond (STM-10) and nobody wins.
double burned_of_member(const Setting& s) {
    const auto half = static_cast<Grains>(0.5 * kMembersBond * static_cast<double>(s.solver_bond));
    return to_asy(half - s.winners_share(half));
}

/// GRP-14
double demand_of_member(const Setting& s) {
    return to_asy(static_cast<Grains>(kMembersBond * static_cast<double>(s.solver_bond))) / 256.0;
}

}  // namespace

double Liability::ratio() const {
    if (harm <= 0.0) {
        return 0.0;
    }
    return cost > 0.0 ? harm / cost : std::numeric_limits<double>::infinity();
}

double Liability::ratio_alone() const { return std::max(alone, ratio()); }

std::vector<Liability> liability_of(const Setting& s, const Costs& costs) {
    const contracts::Params params;
    const double fee = to_asy(s.transaction_fee);
    const double c = to_asy(s.challenger_bond);
    const double b = to_asy(s.verifier_bond);
    // All honest accounts together lose most where all segments are concerned, one alone where one segment is.
    const MembersPay pay = pay_of_members(chain_defaults(), costs, s);
    const SharedLoss silent = loss_by_silence(s, pay, kQuarter, s.assignments);
    const SharedLoss attesting = loss_while_attesting(s, pay, kQuarter, s.assignments);
    const double silent_alone = loss_by_silence(s, pay, kQuarter, 1).alone();
    const double attesting_alone = loss_while_attesting(s, pay, kQuarter, 1).alone();
    // TASK-15
    const double draw = to_asy(static_cast<Grains>(params.draw_price.grains));
    const double half = to_asy(static_cast<Grains>(params.draw_price.grains / 2));
    return {
        {"lost_dispute", "the challenger's bond; the solver's game beyond its share of that", c + fee,
         cost_of_game(s, s.challenger_bond)},
        {"false_accusation", "the responder's bond; the challenger's game beyond its share of that", b + fee,
         cost_of_game(s, s.verifier_bond)},
        {"dispute_timeout", "nobody who fills blocks keeps a move out (DTY-4)", 0.0, 0.0},
        {"unavailable",
         "a tenth of a verifier's bond for each segment; as much, and the reward and half of the bond where three "
         "committees "
         "find withheld what is served, less what honest members earn",
         silent.own, silent.harm(), silent_alone},
        {"room", "the submitter's half of a draw and a submission; the drawn solver's half of the draw",
         draw - half + fee_of_action(contracts::SubmitTask{}, 1'024), half},
        {"room (deposit)", "the drawn solver's half of a draw; the submitter's half", half, draw - half},
        {"missed_deadline", "a submission; nothing for a solver that estimates before it accepts", fee, 0.0},
        {"missed_verdict",
         "a tenth of a verifier's bond for each segment, less the fees of its own members; as much, less what honest "
         "members "
         "earn",
         attesting.own, attesting.harm(), attesting_alone},
        {"unserved",
         "a tenth of a verifier's bond for each segment, less the fees of its own members; as much of the solver's, "
         "less what "
         "honest members earn",
         attesting.own, attesting.harm(), attesting_alone},
        {"missed_verdict (publish, disclose)", "nobody who fills blocks keeps a verdict out (DTY-4)", 0.0, 0.0},
        {"wrong_verdict", "nobody else can cause it", 0.0, 0.0},
        {"broken_commitment", "nobody else can cause it", 0.0, 0.0},
        {"undisclosed", "the challenger's bond; the verifier's game beyond its share of that", c + fee,
         cost_of_game(s, s.challenger_bond)},
        {"contradiction", "the contradicting verifier's bond; the honest verifier's, where nobody disputes the other",
         b, b},
        {"beyond_tolerance", "the verifier's bond; the solver's game beyond its share of that", b,
         cost_of_game(s, s.verifier_bond)},
        {"beyond_tolerance (divergence)", "the verifier's bond; the solver's game beyond its share of that", b,
         cost_of_game(s, s.verifier_bond)},
        {"beyond_budget", "the verifier's bond; the solver's game beyond its share of that", b,
         cost_of_game(s, s.verifier_bond)},
        {"withheld_secret", "nobody who fills blocks keeps a contribution out (DTY-4)", 0.0, 0.0},
        {"false_statement", "the accuser's loss and its accusation; the accused member's game beyond its share of that",
         c + fee, cost_of_game(s, s.challenger_bond)},
        {"false_statement (a true one)",
         "half of the first liar's bond, less the share of an accomplice that disputes it; a replay and an accusation "
         "of each member that it has misled, of the largest group",
         burned_of_member(s), (contracts::kMaxMembersTogether - 1.0) * (to_asy(s.verify_cost) + fee)},
        {"false_statement (equivocation)", "nobody else can cause it", 0.0, 0.0},
        {"not_shown", "nobody who fills blocks keeps a tile out (DTY-4)", 0.0, 0.0},
        {"keys_withheld", "nobody who fills blocks keeps keys out (DTY-4), and a reader's key is that of the draw", 0.0,
         0.0},
        {"wrong_keys", "nobody else can cause it", 0.0, 0.0},
        {"wrong_chunk", "nobody else can cause it", 0.0, 0.0},
        {"demand", "a 256th of a member's bond, of each of the two", demand_of_member(s), demand_of_member(s)}};
}

std::vector<Voluntary> voluntary_of(const Setting& s) {
    // Acceptances, checkpoints, verdicts and moves answer duties: they cost nothing (DTY-3).
    return {
        {"submitter", "the submission, with the answers that it imposes", to_asy(s.submission_fee)},
        {"whistleblower", "one challenge, with the moves that it imposes", to_asy(s.challenge_fee)}};
}

}  // namespace assay::economics
