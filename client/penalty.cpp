// SPDX-License-Identifier: Apache-2.0
#include <client/penalty.hpp>

#include <map>
#include <set>
#include <variant>

#include <core/crypto/address.hpp>
#include <core/base/amount.hpp>

namespace assay::client {
namespace {

using contracts::HistoryRecord;
using contracts::Reason;
using contracts::TaskId;
using nlohmann::json;
namespace history = contracts::history;

std::string hex(const Hash256& hash) { return to_hex(hash.view()); }
std::string number(std::uint64_t value) { return std::to_string(value); }

/// What the history has said so far that a later penalty may rest on.
class Evidence {
  public:
    void note(const HistoryRecord& record) {
        if (const auto* opened = std::get_if<history::DisputeOpened>(&record.event)) {
            dispute_segments_[opened->dispute] = opened->segment;
        } else if (const auto* disputed = std::get_if<history::VerdictChallenged>(&record.event)) {
            dispute_segments_[disputed->dispute] = disputed->segment;
            over_verdicts_[disputed->dispute] = {disputed->segment, disputed->verifier};
        } else if (const auto* committee = std::get_if<history::CommitteeDrawn>(&record.event)) {
            committee_segments_ = committee->segments;
        } else if (const auto* drawn = std::get_if<history::VerifierDrawn>(&record.event)) {
            verifier_segments_[drawn->verifier].push_back(drawn->segment);
        } else if (const auto* disclosed = std::get_if<history::VerdictDisclosed>(&record.event)) {
            disclosed_[{disclosed->verifier, disclosed->segment}] = true;
        } else if (const auto* published = std::get_if<history::VerdictPublished>(&record.event)) {
            if (!published->accepts) {
                rejections_.insert({published->segment, record.actor});
            }
        } else if (std::holds_alternative<history::DisputeEnded>(record.event)) {
            cause_ = record;
            drop_refuted(record);
        }
    }

    void complete(Penalty& penalty) const {
        const bool caused = cause_ && cause_->height == penalty.height && cause_->tx == penalty.tx;
        if (penalty.reason == Reason::kBeyondTolerance && !rejections_.empty()) {
            penalty.segment = rejections_.begin()->first;
        } else if (penalty.reason == Reason::kMissedVerdict || (penalty.reason == Reason::kBrokenCommitment && !caused)) {
            penalty.segment = only_undisclosed(penalty.from);
        } else if (penalty.reason == Reason::kUnavailable || penalty.reason == Reason::kUnserved) {
            penalty.unserved = committee_segments_;
        } else if (caused) {
            penalty.dispute = std::get<history::DisputeEnded>(cause_->event).dispute;
            penalty.segment = find(dispute_segments_, *penalty.dispute);
            penalty.is_over_verdict = over_verdicts_.contains(*penalty.dispute);
        }
    }

  private:
    using Place = std::pair<std::uint32_t, AccountId>;  ///< segment, verifier

    /// A verdict that was refuted convicts nobody.
    void drop_refuted(const HistoryRecord& record) {
        const auto* ended = std::get_if<history::DisputeEnded>(&record.event);
        const auto over = ended != nullptr ? over_verdicts_.find(ended->dispute) : over_verdicts_.end();
        if (over != over_verdicts_.end() && ended->claim_refuted) {
            rejections_.erase(over->second);
        }
    }

    template <class Key>
    static std::optional<std::uint32_t> find(const std::map<Key, std::uint32_t>& in, const Key& key) {
        const auto found = in.find(key);
        return found == in.end() ? std::nullopt : std::optional(found->second);
    }

    /// The segment whose verdict is missing, when there is no doubt which.
    std::optional<std::uint32_t> only_undisclosed(const AccountId& verifier) const {
        const auto drawn = verifier_segments_.find(verifier);
        std::optional<std::uint32_t> out;
        if (drawn == verifier_segments_.end()) {
            return out;
        }
        for (const std::uint32_t segment : drawn->second) {
            if (!disclosed_.contains({verifier, segment})) {
                if (out) {
                    return std::nullopt;
                }
                out = segment;
            }
        }
        return out;
    }

    std::map<contracts::DisputeId, std::uint32_t> dispute_segments_;
    std::vector<std::uint32_t> committee_segments_;
    std::map<AccountId, std::vector<std::uint32_t>> verifier_segments_;
    std::map<std::pair<AccountId, std::uint32_t>, bool> disclosed_;
    std::map<contracts::DisputeId, Place> over_verdicts_;
    std::set<Place> rejections_;
    std::optional<HistoryRecord> cause_;
};

std::string of_segment(const Penalty& penalty) {
    if (!penalty.segment) {
        return "a segment";
    }
    return *penalty.segment == 0 ? "segment 0, the initialisation" : "segment " + number(*penalty.segment);
}

std::string of_unserved(const Penalty& penalty) {
    if (penalty.unserved.empty()) {
        return "a segment";
    }
    std::string out = penalty.unserved.size() == 1 ? "segment " : "segments ";
    for (std::size_t i = 0; i < penalty.unserved.size(); ++i) {
        out += (i == 0 ? "" : ", ") + number(penalty.unserved[i]);
    }
    return out;
}

std::string meaning_of_unserved(const Penalty& penalty) {
    if (penalty.unserved.empty()) {
        return "As the task's solver it shares the fine of a verifier that committed to no verdict while another of "
               "its segment did: whose fault that was cannot be seen (AVL-8).";
    }
    return "As the task's solver it pays for a committee that could fetch what a replay of " + of_unserved(penalty) +
           " needs: as much as the verifiers lose that gave no verdict, and a fee for each member that attested "
           "(AVL-6).";
}

bool is_won(Reason reason) { return reason == Reason::kWonDispute || reason == Reason::kAttestation; }

bool is_unpaid(const Penalty& penalty) { return penalty.burned.grains + penalty.paid.grains < penalty.amount.grains; }

/// BCN-8: of the round that a draw of the task waited for. There is no transaction: none came.
std::vector<Penalty> withheld_in(const HistoryRecord& record) {
    std::vector<Penalty> out;
    if (const auto* closed = std::get_if<history::RoundClosed>(&record.event)) {
        for (const history::Withheld& withheld : closed->withheld) {
            Penalty penalty;
            penalty.index = record.index;
            penalty.height = record.height;
            penalty.reason = Reason::kWithheldSecret;
            penalty.from = withheld.contributor;
            penalty.amount = penalty.burned = withheld.burned;
            out.push_back(penalty);
        }
    }
    return out;
}

std::string meaning_of_verdict(Reason reason, const std::string& segment) {
    const std::string verifier = "As a verifier of " + segment + " it ";
    switch (reason) {
        case Reason::kBrokenCommitment:
            return verifier + "published another verdict than it had committed to (VER-14).";
        case Reason::kUndisclosed:
            return verifier + "did not disclose its verdict in time when challenged (DSP-42).";
        case Reason::kContradiction:
            return verifier + "published a verdict that another contradicts, and neither was disputed (VER-20).";
        default:
            return "As a verifier it accepted " + segment + ", which was refuted (SET-2).";
    }
}

std::string meaning_in_private(Reason reason) {
    const std::string solver = "As the private task's solver it ";
    if (reason == Reason::kKeysWithheld) {
        return solver + "did not share the keys in time with those who were drawn to judge its work (PRV-4).";
    }
    if (reason == Reason::kWrongKeys) {
        return solver + "shared a key that is not the task's, and the reader showed it (PRV-5).";
    }
    return solver + "published a sealed file that is not the checkpoint, and a reader showed a chunk of it (PRV-7).";
}

std::string meaning_in_group(Reason reason) {
    const std::string member = "As a member of a group that computes each step together it ";
    if (reason == Reason::kDemand) {
        return member +
               "said that another one had not sent what it had to send, or another one said that of it. Nobody can "
               "see which is true, so both pay the same (GRP-14).";
    }
    return member +
           "stated something wrong to another one, or two different things, or accused another one to answer for that "
           "and was wrong (STM-7, STM-10).";
}

}  // namespace

std::vector<Penalty> find_penalties(std::span<const HistoryRecord> records) {
    std::vector<Penalty> out;
    Evidence evidence;
    for (const HistoryRecord& record : records) {
        evidence.note(record);
        const auto* paid = std::get_if<history::Paid>(&record.event);
        // The winners' shares follow at once.
        if (paid != nullptr && !out.empty() && is_won(paid->reason) && is_unpaid(out.back()) &&
            record.height == out.back().height && record.tx == out.back().tx) {
            out.back().winners.push_back({paid->to, paid->amount});
            out.back().paid.grains += paid->amount.grains;
        }
        const std::vector<Penalty> withheld = withheld_in(record);
        out.insert(out.end(), withheld.begin(), withheld.end());
        if (const auto* slashed = std::get_if<history::Slashed>(&record.event)) {
            Penalty penalty;
            penalty.index = record.index;
            penalty.height = record.height;
            penalty.tx = record.tx;
            penalty.reason = slashed->reason;
            penalty.from = slashed->from;
            penalty.amount = slashed->amount;
            penalty.burned = slashed->burned;
            evidence.complete(penalty);
            out.push_back(penalty);
        }
    }
    return out;
}

std::string meaning(const Penalty& penalty) {
    const std::string segment = of_segment(penalty);
    switch (penalty.reason) {
        case Reason::kLostDispute:
            if (penalty.is_over_verdict) {
                return "As a verifier it published a state in the middle of " + segment +
                       " that the chain refuted by executing one disputed piece of it (DSP-36, DSP-43).";
            }
            return "As the task's solver it claimed a result of " + segment +
                   " that the chain refuted by executing one disputed piece of it (DSP-36, SET-2).";
        case Reason::kFalseAccusation:
            return std::string("It disputed ") + (penalty.is_over_verdict ? "a verdict on " : "") + segment +
                   ", and the chain found the claim right by executing the disputed piece (DSP-36, SET-5).";
        case Reason::kDisputeTimeout:
            return "It was to move in a dispute over " + segment + " and let its clock run out (DSP-32).";
        case Reason::kUnavailable:
            return "As the task's solver it did not serve what a replay of " + of_unserved(penalty) +
                   " needs: three committees in a row, drawn from the verifiers, could not fetch it (AVL-5).";
        case Reason::kMissedDeadline:
            return "As the task's solver it did not complete the training in time, which burns a part of its bond "
                   "(TASK-8).";
        case Reason::kMissedVerdict:
            return "As a verifier drawn for " + segment +
                   " it missed a phase of the verdicts (VER-5). Where it did not commit, another verifier of the "
                   "segment had, or a committee could fetch what a replay needs; until then this part of its bond was "
                   "held (AVL-8).";
        case Reason::kBrokenCommitment:
        case Reason::kUndisclosed:
        case Reason::kWrongVerdict:
        case Reason::kContradiction:
            return meaning_of_verdict(penalty.reason, segment);
        case Reason::kBeyondTolerance:
            return "As the task's solver it posted a checkpoint further from the canonical replay of " + segment +
                   " than the task's threshold, by a verdict that nobody refuted (VER-19).";
        case Reason::kBeyondBudget:
            return "As the task's solver its drifts from the canonical replays add up over the run as those of honest "
                   "hardware do not (VER-21).";
        case Reason::kFalseStatement:
        case Reason::kDemand:
            return meaning_in_group(penalty.reason);
        case Reason::kWithheldSecret:
            return "As a contributor to the beacon it kept the secret that it owed to the round that this task's draw "
                   "waited for; it lost its seat too (BCN-8).";
        case Reason::kUnserved:
            return meaning_of_unserved(penalty);
        case Reason::kRoom:
            return "It was drawn as the task's solver, and declined or let the draw lapse. It pays for half of that "
                   "draw; the submitter, into whose deposit this went, for the other half (TASK-15).";
        case Reason::kNotShown:
            return "It was paid for keeping the task's result, and did not show in time the tile of it that a round of "
                   "the beacon drew (RET-6).";
        case Reason::kKeysWithheld:
        case Reason::kWrongKeys:
        case Reason::kWrongChunk:
            return meaning_in_private(penalty.reason);
        case Reason::kAttestation:
        case Reason::kRetention:
        case Reason::kProfilingFee:
        case Reason::kReward:
        case Reason::kVerificationFee:
        case Reason::kRefund:
        case Reason::kWonDispute:
        case Reason::kMoot:
        case Reason::kTax:
        case Reason::kJackpot:
        case Reason::kForcedError:
            break;
    }
    return std::string("Its reason is recorded as ") + contracts::to_string(penalty.reason) + ".";
}

std::vector<std::string> reproductions(const TaskId& task, const Penalty& penalty) {
    const std::string id = to_hex(task.view());
    std::vector<std::string> out;
    const bool about_segment = penalty.reason == Reason::kLostDispute || penalty.reason == Reason::kFalseAccusation ||
                               penalty.reason == Reason::kWrongVerdict || penalty.reason == Reason::kDisputeTimeout ||
                               penalty.reason == Reason::kBeyondTolerance;
    if (about_segment && penalty.segment) {
        out.push_back("assay verify segment " + id + " " + number(*penalty.segment));
    }
    if (penalty.dispute) {
        out.push_back("assay dispute explain " + to_hex(penalty.dispute->view()));
    }
    if (!penalty.unserved.empty()) {
        out.push_back("assay query proof --task " + id);
    }
    if (penalty.tx != Hash256{}) {
        out.push_back("assay tx show " + hex(penalty.tx));
    }
    out.push_back("assay query block " + number(penalty.height.value));
    out.push_back("assay audit task " + id);
    return out;
}

json to_json(const TaskId& task, const Penalty& penalty) {
    const auto or_null = [](const auto& value, const auto& render) { return value ? json(render(*value)) : json(); };
    const auto id_text = [](const auto& id) { return to_hex(id.view()); };
    const auto same = [](std::uint32_t value) { return value; };
    json winners = json::array();
    for (const Penalty::Winner& winner : penalty.winners) {
        winners.push_back({{"account", crypto::to_address(winner.account)}, {"amount", number(winner.amount.grains)}});
    }
    return {
        {"index", penalty.index},
        {"height", penalty.height.value},
        {"tx", penalty.tx == Hash256{} ? json() : json(hex(penalty.tx))},
        {"reason", contracts::to_string(penalty.reason)},
        {"account", crypto::to_address(penalty.from)},
        {"amount", number(penalty.amount.grains)},
        {"burned", number(penalty.burned.grains)},
        {"paid", number(penalty.paid.grains)},
        {"winners", winners},
        {"dispute", or_null(penalty.dispute, id_text)},
        {"segment", or_null(penalty.segment, same)},
        {"unserved", penalty.unserved},
        {"meaning", meaning(penalty)},
        {"reproduce", reproductions(task, penalty)}};
}

std::string explain_penalty(const TaskId& task, const Penalty& penalty) {
    std::string out = crypto::to_address(penalty.from) + " lost " + to_text(penalty.amount) + " in block " +
                      number(penalty.height.value) + " (" + contracts::to_string(penalty.reason) + ")\n  " +
                      meaning(penalty) + "\n  " + to_text(penalty.burned) + " burned";
    for (const Penalty::Winner& winner : penalty.winners) {
        out += ", " + to_text(winner.amount) + " to " + crypto::to_address(winner.account);
    }
    out += penalty.tx == Hash256{} ? "; a deadline did it, no transaction.\n" : ".\n";
    out += "  To see it again:\n";
    for (const std::string& command : reproductions(task, penalty)) {
        out += "    " + command + "\n";
    }
    return out;
}

}  // namespace assay::client
