// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/chain/explain.hpp>

#include <core/crypto/address.hpp>
#include <core/base/amount.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using contracts::Dispute;
using contracts::DisputeState;
using contracts::Reason;
using nlohmann::json;

std::string hex(const Hash256& hash) { return to_hex(hash.view()); }

/// EVL-5: of the solver's claims only an evaluation's is a function of a state other than segment 0's.
bool is_over_score(const Dispute& d) {
    return d.claim.initialisation && d.segment != 0 && std::holds_alternative<contracts::SolverClaim>(d.subject);
}

std::string subject_text(const Dispute& d) {
    if (d.verdict()) {
        return "the " + std::string(contracts::to_string(d.verdict()->part)) + " of a verdict on segment " +
               std::to_string(d.segment);
    }
    if (d.profile()) {
        return "the " + std::string(contracts::to_string(d.profile()->part)) + " in a profiler's report" +
               (d.segment == 0 ? "" : " on segment " + std::to_string(d.segment));
    }
    if (d.accusation()) {
        return "a statement about step " + std::to_string(d.accusation()->step) + " in segment " +
               std::to_string(d.segment);
    }
    return is_over_score(d) ? "the score" : "segment " + std::to_string(d.segment);
}
std::string responder_name(const Dispute& d) {
    if (d.accusation()) {
        return "accuser";
    }
    return d.verdict() ? "verifier" : d.profile() ? "profiler" : "solver";
}
bool is_over_measurement(const Dispute& d) {
    return (d.verdict() && d.verdict()->part == contracts::VerdictPart::kMeasurement) ||
           (d.profile() && contracts::is_measured(d.profile()->part));
}

std::string challenger_name(const Dispute& d) { return d.accusation() ? "accused" : "challenger"; }

std::string claim_text(const Dispute& d) {
    const std::string responder = crypto::to_address(d.responder);
    const std::string who = "  The " + responder_name(d) + ", " + responder + ",\n  claimed that ";
    if (is_over_measurement(d)) {
        return who + "the distance program makes of the three states\n    " + hex(d.claim.before) +
               "\n  the measurement\n    " + hex(d.claim.after) + "\n";
    }
    if (is_over_score(d)) {
        return who + "the task's evaluation makes of the final state and the hold-out set\n    " + hex(d.claim.before) +
               "\n  the score\n    " + hex(d.claim.after) + "\n";
    }
    if (d.claim.initialisation) {
        return who + "the task's initialisation makes the state\n    " + hex(d.claim.after) + "\n";
    }
    const std::uint64_t last = d.claim.first_step + d.claim.step_count - 1;
    return who + "steps " + std::to_string(d.claim.first_step) + " to " + std::to_string(last) +
           " lead from state\n    " + hex(d.claim.before) + "\n  to state\n    " + hex(d.claim.after) + "\n";
}

std::string accusation_text(const Dispute& d) {
    if (d.accusation()) {
        const dispute::Piece& piece = d.accusation()->piece;
        const bool is_node = piece.source == canonical::Source::kNode;
        return "  The accused " + crypto::to_address(d.challenger) + "\n  had stated other values of " +
               (is_node ? "node " : "tensor ") + std::to_string(piece.index) + " in step " +
               std::to_string(d.accusation()->step) + ". It was accused in block " + std::to_string(d.opened_at.value) +
               (d.accusation()->answers ? ", in answer to dispute\n  " + to_hex(d.accusation()->answers->view()) : "") +
               ".\n";
    }
    // The record counts what is still locked: nothing once it is over.
    const std::string bond = d.challenger_bond.grains > 0 ? " with a bond of " + to_text(d.challenger_bond) : "";
    return "  The " + std::string(contracts::to_string(d.challenger_role)) + " " + crypto::to_address(d.challenger) +
           "\n  replayed them, got another state, and disputed the claim in block " +
           std::to_string(d.opened_at.value) +
           (contracts::is_open(d.state()) ? " with a bond of " + to_text(d.challenger_bond) : "") + ".\n";
}

std::string rounds_text(const Dispute& d, const json& answer) {
    Table table({"  HEIGHT>", "MOVE", "BYTES>", "TRANSACTION"});
    for (const json& move : answer.at("moves")) {
        table.add(
            {to_text(move.at("height")), to_text(move.at("action")), to_text(move.at("size_bytes")),
             to_text(move.at("tx"))}
        );
    }
    return "  " + std::to_string(d.position.rounds) + " rounds of reveal and select, " +
           std::to_string(d.onchain_bytes) + " bytes on the chain.\n" + (table.empty() ? "" : table.text());
}

std::string pinpoint_text(const Dispute& d) {
    const dispute::Pinpoint at = dispute::pinpoint(d.position);
    if (d.position.step() == nullptr) {
        const auto& steps = std::get<dispute::AtSteps>(std::get<dispute::Bisection>(d.position.at).range);
        return "  It did not come to a single step: steps " + std::to_string(steps.first_step) + " to " +
               std::to_string(steps.first_step + steps.step_count - 1) + " are in question.\n";
    }
    const std::string function = is_over_score(d) ? "  The evaluation" : "  The initialisation";
    std::string out = d.claim.initialisation ? function : "  Step " + std::to_string(at.step);
    if (at.node) {
        out += ", node " + std::to_string(*at.node);
    }
    if (at.op) {
        out += std::string(" (") + canonical::to_string(*at.op) + ")";
    }
    if (at.tile) {
        out += ", tile " + std::to_string(*at.tile);
    }
    if (at.partial) {
        out += ", partial " + std::to_string(*at.partial);
    }
    if (at.tensor) {
        out += ", tensor " + std::to_string(*at.tensor) + " of the state";
    }
    return out + ".\n  Everything before it both parties agree on.\n";
}

std::string ruling_text(const Dispute& d, const json& answer) {
    const Reason reason = d.end() ? d.end()->reason : Reason::kMoot;
    const std::string at = d.end() ? " in block " + std::to_string(d.end()->at.value) : "";
    const std::string time =
        answer.at("referee_us").is_number() ? " in " + to_text(answer.at("referee_us")) + " microseconds" : "";
    const bool by_clock = reason == Reason::kDisputeTimeout;
    const bool by_value =
        d.state() == DisputeState::kRefuted && reason == Reason::kLostDispute && !d.position.is_at_proof();
    if (by_value) {
        return "  The challenger opened a value of the state after that step" + time + at +
               "\n  that is not finite: the step diverged, and the claim of a state after it is refuted.\n";
    }
    const bool is_stated = reason == Reason::kFalseStatement || (d.accusation() && !d.position.is_at_proof());
    if (d.end() && d.state() != DisputeState::kMoot && is_stated && !by_clock) {
        return d.accusation() ? "  It ended" + at + " by its evidence, or by the accusation that answered it.\n"
                              : "  It ended" + at +
                                    " by an accusation that answered it: a member was convicted of a false"
                                    "\n  statement, and the claim is refuted (STM-10).\n";
    }
    switch (d.state()) {
        case DisputeState::kAwaiting:
            return "  None yet; the verifier is to disclose its verdict before block " +
                   std::to_string(d.deadline().value) + ".\n";
        case DisputeState::kForced:
            return "  None was needed: the verdict was disclosed" + at +
                   ",\n  and it was forced to be wrong: the challenger was right.\n";
        case DisputeState::kActive:
            return "  None yet; the " + to_text(answer.at("to_move")) + " is to move before block " +
                   std::to_string(d.deadline().value) + ".\n";
        case DisputeState::kMoot:
            return "  None: the task or the verdict ended otherwise" + at +
                   (d.accusation() ? ".\n" : ", and the challenger got its bond back.\n");
        case DisputeState::kRefuted:
            if (reason == Reason::kUndisclosed || reason == Reason::kBrokenCommitment) {
                return reason == Reason::kUndisclosed
                           ? "  The verifier did not disclose its verdict" + at + ": it is refuted.\n"
                           : "  The verifier disclosed another verdict than it had committed to" + at +
                                 ": it is refuted.\n";
            }
            return by_clock
                       ? "  The " + responder_name(d) + " let its clock run out" + at + ": its claim is refuted.\n"
                       : "  The chain recomputed that one partial" + time + at +
                             "\n  and got another result than the " + responder_name(d) + ": its claim is refuted.\n";
        case DisputeState::kUpheld:
            return by_clock ? "  The " + challenger_name(d) + " let its clock run out" + at + ": the claim holds.\n"
                            : "  The chain recomputed that one partial" + time + at + "\n  and got the " +
                                  responder_name(d) + "'s result: the claim holds.\n";
    }
    return "";
}

std::string money_text(const Dispute& d) {
    const contracts::DisputeEnd* end = d.end();
    if (end == nullptr) {
        return "  Bonds stay locked until the ruling.\n";
    }
    if (end->slashed.grains == 0) {
        return "  Nobody was slashed.\n";
    }
    const bool refuted = d.state() == DisputeState::kRefuted;
    if (end->reason == Reason::kFalseStatement) {
        return "  Whoever stated something wrong lost " + to_text(end->slashed) + "; " + to_text(end->paid) +
               " of it went to who accused first, " + to_text(end->burned) + " was burned.\n";
    }
    return "  The " + (refuted ? responder_name(d) : challenger_name(d)) + " lost " + to_text(end->slashed) + "; " +
           to_text(end->paid) + " of it went to the " + (refuted ? challenger_name(d) : responder_name(d)) + ", " +
           to_text(end->burned) + " was burned.\n";
}

}  // namespace

std::string explain_dispute(const Dispute& d, const json& answer, const std::string& title) {
    const std::string id = to_hex(d.id.view());
    const std::string task = to_hex(d.task.view());
    return "Dispute " + id + "\n  over " + subject_text(d) + " of task " + task + ", \"" + title + "\"\n" +
           "\nClaim\n" + claim_text(d) + "\nAccusation\n" + accusation_text(d) + "\nBisection\n" +
           rounds_text(d, answer) + "\nWhat is in question\n" + pinpoint_text(d) + "\nRuling\n" +
           ruling_text(d, answer) + "\nMoney\n" + money_text(d) + "\nTo see it again\n  assay dispute show " + id +
           " -o json\n  assay audit task " + task +
           "\n  assayd replay --home HOME  (with the node stopped: executes every block anew)\n";
}

}  // namespace assay::cli
