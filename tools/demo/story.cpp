// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/story.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <variant>

namespace assay::demo {
namespace {

using namespace contracts;

std::string short_hex(ByteView bytes) { return to_hex(bytes.subspan(0, 6)); }

struct Line {
    Stage stage;
    std::string text;
};

std::string describe_slash(const history::Slashed& e, const std::string& who) {
    return who + " loses " + format_amount(e.amount) + " (" + to_string(e.reason) + "; " + format_amount(e.burned) +
           " burned)";
}

std::string describe_move(const history::DisputeMoved& e, const std::string& who) {
    if (e.level == dispute::Level::kProof) {
        return who + " opens the inputs of the one partial that is left";
    }
    return "round " + std::to_string(e.round + 1) + ": " + who +
           (e.by_responder ? " reveals its " : " selects the first it knows to be wrong of the ") +
           dispute::to_string(e.level);
}

/// "contract node 77 of step 100, tile 32, partial 1"
std::string describe_pinpoint(const nlohmann::json& at) {
    std::string text =
        at.at("op").is_null() ? "a node" : at.at("op").get<std::string>() + " node " + at.at("node").dump();
    text += " of step " + at.at("step").dump();
    for (const char* part : {"tile", "partial", "tensor"}) {
        if (!at.at(part).is_null()) {
            text += std::string(", ") + part + " " + at.at(part).dump();
        }
    }
    return text;
}

std::string describe_ruling(const history::DisputeEnded& e, Network& network) {
    if (e.reason == Reason::kForcedError) {
        return "the verdict was forced to be wrong: the challenger was right, and nobody loses";
    }
    std::string ruling = std::string("the chain rules: the responder's claim ") +
                         (e.claim_refuted ? "is refuted" : "holds") + " (" + to_string(e.reason) + ")";
    const auto dispute = network.rpc().call("dispute_get", {{"dispute", to_hex(e.dispute.view())}});
    if (!dispute.at("referee_us").is_number()) {
        return ruling;
    }
    std::array<char, 32> us{};
    std::snprintf(us.data(), us.size(), "%.0f", dispute.at("referee_us").get<double>());
    return ruling + "; it recomputed " + describe_pinpoint(dispute.at("pinpoint")) + " in " + us.data() + " us";
}

/// What one record of a task's history means, as a line of the story.
class Teller {
  public:
    Teller(
        const HistoryRecord& record, const std::vector<HistoryRecord>& earlier, std::uint32_t segments, Network& network
    )
        : actor_(record.actor.is_zero() ? "the chain" : network.name_of(record.actor)),
          earlier_(earlier),
          segments_(segments),
          network_(network) {}

    Line operator()(const history::Submitted& e) const {
        return {Stage::kSubmission, actor_ + " submits the task; " + format_amount(e.escrow) + " in escrow"};
    }
    Line operator()(const history::SolverDrawn& e) const { return {Stage::kDraw, name(e.solver) + " is drawn"}; }
    Line operator()(const history::Accepted& e) const {
        const std::string group =
            e.seats.empty() ? "" : " for each member of a group of " + std::to_string(e.seats.size()) + " seats";
        return {Stage::kDraw, actor_ + " accepts and locks a bond of " + format_amount(e.bond) + group};
    }
    Line operator()(const history::CheckpointPosted& e) const {
        return {
            Stage::kTraining,
            "checkpoint " + std::to_string(e.index) + ", state root " + short_hex(e.state_root.view())};
    }
    Line operator()(const history::Diverged& e) const {
        return {
            Stage::kTraining, "step " + std::to_string(e.step) + " leaves values that are not finite: training ends"};
    }
    Line operator()(const history::Tainted& e) const {
        return {Stage::kSettlement, "the task is marked: " + short_hex(e.ancestor.view()) + " was convicted"};
    }
    Line operator()(const history::Completed&) const {
        return {Stage::kCompletion, actor_ + " registers the last checkpoint and keeps the artifacts served"};
    }
    Line operator()(const history::VerifierDrawn& e) const {
        return {Stage::kVerification, name(e.verifier) + " is drawn to replay " + segment(e.segment)};
    }
    Line operator()(const history::VerdictCommitted& e) const {
        return {Stage::kVerification, actor_ + " commits a verdict on " + segment(e.segment)};
    }
    Line operator()(const history::VerdictPublished& e) const {
        return {
            Stage::kVerification, actor_ + (e.accepts ? " accepts " : " rejects ") + segment(e.segment) +
                                      ": its own replay gives " + short_hex(e.verdict.end_root.view())};
    }
    Line operator()(const history::LotteryDrawn& e) const {
        return {Stage::kVerification, "every commitment is in: lottery " + short_hex(e.lottery.view())};
    }
    Line operator()(const history::WatcherDrawn& e) const {
        return {
            Stage::kVerification,
            name(e.watcher) + " is drawn to watch " + name(e.verifier) + "'s verdict on " + segment(e.segment)};
    }
    Line operator()(const history::VerdictDisclosed& e) const {
        return {
            Stage::kChallenge, name(e.verifier) + " discloses its verdict on " + segment(e.segment) +
                                   (e.forced ? ": it was forced to be wrong" : ": it is as published")};
    }
    Line operator()(const history::VerdictChallenged& e) const {
        return {Stage::kChallenge, actor_ + " challenges " + name(e.verifier) + "'s verdict on " + segment(e.segment)};
    }
    Line operator()(const history::DisputeOpened& e) const {
        return {Stage::kChallenge, actor_ + " disputes " + segment(e.segment)};
    }
    Line operator()(const history::DisputeMoved& e) const { return {Stage::kChallenge, describe_move(e, actor_)}; }
    Line operator()(const history::DisputeEnded& e) const {
        return {
            Stage::kChallenge, e.reason == Reason::kMoot
                                   ? "another dispute of the task is closed: nothing is left to decide"
                                   : describe_ruling(e, network_)};
    }
    Line operator()(const history::CommitteeDrawn& e) const {
        std::string members;
        for (const AccountId& member : std::set<AccountId>(e.seats.begin(), e.seats.end())) {
            members += (members.empty() ? "" : ", ") + name(member);
        }
        return {
            Stage::kChallenge, std::to_string(e.segments.size()) +
                                   " segments have no verdict; a committee fetches what they need: " + members};
    }
    Line operator()(const history::Attested&) const {
        return {Stage::kChallenge, actor_ + " attests that it has all of it"};
    }
    Line operator()(const history::CommitteeEnded& e) const {
        return {
            Stage::kChallenge,
            e.is_available ? "more than half of the committee have it: other verifiers are drawn, first among them"
                           : "no more than half of the committee could fetch it"};
    }
    Line operator()(const history::Paid& e) const {
        const std::string amount = format_amount(e.amount) + " (" + to_string(e.reason) + ")";
        if (e.to.is_zero() && e.reason == contracts::Reason::kRoom) {
            return {Stage::kDraw, amount + " of the deposit for waiting is burned"};
        }
        return {Stage::kSettlement, (e.to.is_zero() ? "the treasury" : name(e.to)) + " gets " + amount};
    }
    Line operator()(const history::Slashed& e) const {
        if (e.reason == contracts::Reason::kRoom) {
            return {Stage::kDraw, name(e.from) + " pays for half of the draw: " + format_amount(e.amount)};
        }
        const bool is_demand = e.reason == contracts::Reason::kDemand;
        return {is_demand ? Stage::kTraining : Stage::kSettlement, describe_slash(e, name(e.from))};
    }
    Line operator()(const history::ProfilerDrawn& e) const {
        return {Stage::kProfiling, name(e.profiler) + " is drawn to measure the drift of its hardware"};
    }
    Line operator()(const history::ProfileCommitted&) const {
        return {Stage::kProfiling, actor_ + " commits its report"};
    }
    Line operator()(const history::ProfilePublished& e) const {
        return {
            Stage::kProfiling,
            actor_ + " publishes what it measured in " + std::to_string(e.report.segments.size()) + " segments"};
    }
    Line operator()(const history::ProfileChallenged& e) const {
        return {Stage::kProfiling, actor_ + " challenges " + name(e.profiler) + "'s report"};
    }
    Line operator()(const history::ProfilingEnded& e) const {
        return {
            Stage::kProfiling,
            e.outcome == ProfilingOutcome::kBounded
                ? "a drift of up to " + std::to_string(e.threshold.parameters) + " billionths is tolerated"
                : std::string("the task is refused: ") + to_string(e.outcome)};
    }
    Line operator()(const history::Scored& e) const {
        std::array<char, 32> score{};
        std::snprintf(score.data(), score.size(), "%.4f", static_cast<double>(std::bit_cast<float>(e.score)));
        return {
            Stage::kSettlement,
            std::string("its score is recorded: a mean loss of ") + score.data() + " on the hold-out set"};
    }
    Line operator()(const history::Cut& e) const {
        return {
            Stage::kVerification, "the task is cut: the segments from " + std::to_string(e.first) +
                                      " on do not count any more, " + name(e.member) + " was convicted"};
    }
    Line operator()(const history::Accused& e) const {
        return {
            Stage::kChallenge, name(e.accuser) + " accuses " + name(e.member) + " of a false statement in segment " +
                                   std::to_string(e.segment)};
    }
    Line operator()(const history::MemberConvicted& e) const {
        return {Stage::kChallenge, name(e.member) + " is convicted of a false statement; the task goes on"};
    }
    Line operator()(const history::Reseated& e) const {
        return {
            Stage::kTraining, "the group has its seats anew from segment " + std::to_string(e.from) +
                                  " on: " + std::to_string(std::set<AccountId>(e.seats.begin(), e.seats.end()).size()) +
                                  " members, " + std::to_string(e.seats.size()) + " seats"};
    }
    Line operator()(const history::Demanded& e) const {
        return {
            Stage::kTraining, name(e.accuser) + " says that " + name(e.member) +
                                  " has not sent what it had to: both pay" +
                                  (e.is_out ? ", and " + name(e.member) + " has no seat any more" : "")};
    }
    Line operator()(const history::KeepingBegun& e) const {
        return {
            Stage::kSettlement, "everybody is paid; the solver keeps the result for up to " + format_amount(e.fee) +
                                    ", with " + format_amount(e.bond) + " of its stake locked"};
    }
    Line operator()(const history::ShowDrawn& e) const {
        return {
            Stage::kSettlement, "tile " + std::to_string(e.show + 1) +
                                    " of the kept result is drawn; the solver has to show it by block " +
                                    std::to_string(e.due.value)};
    }
    Line operator()(const history::ResultShown& e) const {
        return {Stage::kSettlement, actor_ + " shows tile " + std::to_string(e.show + 1) + " of the kept result"};
    }
    Line operator()(const history::KeepingEnded& e) const {
        return {
            Stage::kSettlement, e.is_whole ? "the result was kept to the end"
                                           : "the solver has not shown a tile of the result, and loses its bond"};
    }
    Line operator()(const history::KeysShared& e) const {
        std::string text = actor_ + " shares the task's keys with ";
        for (std::size_t i = 0; i < e.shares.size(); ++i) {
            text += (i == 0 ? "" : i + 1 == e.shares.size() ? " and " : ", ") + name(e.shares[i].to);
        }
        return {e.key ? Stage::kDraw : stage_by_solver(), text};
    }
    Line operator()(const history::KeysRefused& /*e*/) const {
        return {Stage::kDraw, actor_ + " shows that the keys that it was given are wrong; somebody else is drawn"};
    }
    Line operator()(const history::RoundClosed& e) const {
        std::string text = "round " + std::to_string(e.round) + " of the beacon closes with the secrets of " +
                           std::to_string(e.contributors) + " contributors: what follows is drawn from it";
        for (const history::Withheld& withheld : e.withheld) {
            text += "; " + name(withheld.contributor) + " withheld its own and loses " + format_amount(withheld.burned);
        }
        return {stage_by_solver(), text};
    }
    Line operator()(const history::StateChanged& e) const {
        const Stage stage = is_terminal(e.state) || e.state == TaskState::kJudged                   ? Stage::kSettlement
                            : e.state == TaskState::kChallenge || e.state == TaskState::kDisclosure ? Stage::kChallenge
                            : e.state == TaskState::kVerifying ? Stage::kVerification
                            : e.state == TaskState::kCompleted ? Stage::kCompletion
                            : e.state == TaskState::kTraining  ? Stage::kTraining
                            : e.state == TaskState::kDrawn     ? Stage::kDraw
                                                               : Stage::kSubmission;
        return {stage, std::string("the task is now ") + to_string(e.state)};
    }

  private:
    /// Of what happens both before a solver has accepted and after it.
    Stage stage_by_solver() const {
        const bool solved = std::any_of(earlier_.begin(), earlier_.end(), [](const HistoryRecord& record) {
            return std::holds_alternative<history::Accepted>(record.event);
        });
        return solved ? Stage::kVerification : Stage::kProfiling;
    }
    std::string name(const AccountId& account) const { return network_.name_of(account); }
    std::string segment(std::uint32_t number) const {
        return number > segments_ ? std::string("the evaluation") : "segment " + std::to_string(number);
    }

    std::string actor_;
    const std::vector<HistoryRecord>& earlier_;
    std::uint32_t segments_;
    Network& network_;
};

nlohmann::json history_page(Network& network, const TaskId& task, const nlohmann::json& cursor) {
    return network.rpc().call("task_history", {{"task", to_hex(task.view())}, {"limit", 100}, {"cursor", cursor}});
}

HistoryRecord decode_record(const nlohmann::json& item) {
    const auto raw = from_hex(item.at("raw").get<std::string>());
    auto record = raw ? codec::decode<HistoryRecord>(*raw) : Unexpected{codec::DecodeError::kTruncated};
    if (!record) {
        throw std::runtime_error("the node sent a history record that does not decode");
    }
    return *std::move(record);
}

}  // namespace

std::string format_amount(Amount amount) {
    std::array<char, 48> text{};
    std::snprintf(
        text.data(), text.size(), "%llu.%03llu ASY", static_cast<unsigned long long>(amount.grains / kGrainsPerAsy),
        static_cast<unsigned long long>(amount.grains % kGrainsPerAsy / 1'000'000)
    );
    return text.data();
}

std::vector<HistoryRecord> history_of(Network& network, const TaskId& task) {
    std::vector<HistoryRecord> out;
    nlohmann::json cursor;
    do {
        const auto page = history_page(network, task, cursor);
        for (const auto& item : page.at("records")) {
            out.push_back(decode_record(item));
        }
        cursor = page.at("next_cursor");
    } while (!cursor.is_null());
    return out;
}

Story::Story(std::string label, contracts::TaskId task, Network& network, Narrator& narrator)
    : label_(std::move(label)), task_(task), network_(network), narrator_(narrator) {}

contracts::TaskState Story::follow() {
    // Before the history, which is then at least as new: an end is never told without how it came.
    const auto task = network_.rpc().task(task_);
    if (!task) {
        throw std::runtime_error("task " + to_hex(task_.view()) + " is not on the chain");
    }
    segments_ = segment_count(task->spec);
    for (;;) {
        const auto page = history_page(network_, task_, cursor_.empty() ? nlohmann::json() : nlohmann::json(cursor_));
        std::size_t already = records_.size();
        for (const auto& item : page.at("records")) {
            if (item.at("index").get<std::size_t>() < already) {
                continue;
            }
            records_json_.push_back(item);
            records_.push_back(decode_record(item));
            tell(records_.back());
            ++already;
        }
        if (page.at("next_cursor").is_null()) {
            break;
        }
        cursor_ = page.at("next_cursor").get<std::string>();
    }
    return task->state;
}

void Story::tell(const contracts::HistoryRecord& record) {
    const Line line = std::visit(Teller(record, records_, segments_, network_), record.event);
    narrator_.tell(line.stage, label_ + ": " + line.text);
    const auto task =
        std::holds_alternative<history::Submitted>(record.event) ? network_.rpc().task(task_) : std::nullopt;
    if (task && !task->tolerance) {
        narrator_.tell(
            Stage::kProfiling,
            label_ + ": exact mode: arithmetic is canonical, so there is no drift to profile and no threshold to set"
        );
    }
}

}  // namespace assay::demo
