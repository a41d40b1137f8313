// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/types.hpp>

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include <contracts/state/history.hpp>
#include <core/dispute/bisection.hpp>

namespace assay::rpc::describe {

namespace {

using namespace contracts;
namespace happened = contracts::history;

struct Event {
    HistoryEvent event;  ///< any of its kind
    const char* text;
    Members members;
};

Members verdict() {
    return {
        {"segment", integer()},
        {"end_root", hash()},
        {"probe_root", nullable(hash())},
        {"measurement", nullable(ref("Distances"))}};
}

std::vector<Event> events_of_training() {
    return {
        {happened::Submitted{},
         "The task was submitted.",
         {{"escrow", amount()}, {"room", amount(), "the deposit for waiting"}}},
        {happened::SolverDrawn{}, "A solver was drawn.", {{"solver", account()}}},
        {happened::Accepted{},
         "The solver accepted.",
         {{"bond", amount(), "of each member"},
          {"seats", array(account()), "of a group"},
          {"environment", nullable(ref("Environment")), "in which the solver says that it works"}}},
        {happened::Reseated{},
         "A group's seats were given anew.",
         {{"from", integer(), "the first segment for which they count"}, {"seats", array(account())}}},
        {happened::Demanded{},
         "A member said that another one has not sent what it had to.",
         {{"accuser", account()}, {"member", account()}, {"is_out", flag(), "it lost its seat"}}},
        {happened::Cut{},
         "The task ends before this segment, where a member of its group was convicted.",
         {{"first", integer()}, {"member", account()}}},
        {happened::CheckpointPosted{},
         "A checkpoint was posted.",
         {{"checkpoint", integer()},
          {"state_root", hash()},
          {"environment", nullable(ref("Environment")), "in which its poster says that it computed the segment"},
          {"sealed", nullable(ref("SealedFile")), "null unless the task is private"}}},
        {happened::Completed{}, "The training is complete.", {}},
        {happened::Diverged{},
         "The training ended because a value was not finite.",
         {{"checkpoint", integer()},
          {"step", integer()},
          {"state_root", hash()},
          {"sealed", nullable(ref("SealedFile")), "null unless the task is private"}}},
        {happened::Scored{}, "The solver claimed a score.", {{"score", number()}}},
        {happened::StateChanged{}, "The task's state changed.", {{"state", ref("TaskState")}}},
        {happened::Tainted{}, "An ancestor was convicted.", {{"ancestor", hash()}}},
    };
}

std::vector<Event> events_of_retention() {
    return {
        {happened::KeepingBegun{},
         "Everybody is paid, and the solver keeps the result (RET-2).",
         {{"fee", amount(), "what it can earn"},
          {"bond", amount(), "what stays locked of its stake"},
          {"shows", integer(), "how many tiles it has to show"}}},
        {happened::ShowDrawn{},
         "A tile of the kept result was drawn, which the solver has to show.",
         {{"show", integer(), "its number, from 0"}, {"due", height()}}},
        {happened::ResultShown{}, "The solver showed the tile.", {{"show", integer()}}},
        {happened::KeepingEnded{},
         "The result is not kept any more.",
         {{"is_whole", flag(), "every tile that was drawn was shown in time"}}},
    };
}

std::vector<Event> events_of_privacy() {
    return {
        {happened::KeysShared{},
         "The keys of a private task were shared (PRV-3, PRV-4, PRV-10).",
         {{"key", nullable(hash()), "of the checkpoints, if it was chosen now"},
          {"shares",
           array(object({{"to", account()}, {"of_task", hex()}, {"of_checkpoints", hex(), "empty for profilers"}}))}}},
        {happened::KeysRefused{},
         "What the submitter had shared with the drawn solver, or with a profiler, is another key (PRV-5, PRV-11).",
         {}},
    };
}

std::vector<Event> events_of_verification() {
    return {
        {happened::RoundClosed{},
         "A round of the beacon closed, and its seed decides the draws that follow.",
         {{"round", integer()},
          {"seed", hash()},
          {"contributors", integer(), "how many"},
          {"withheld", array(object({{"contributor", account()}, {"burned", amount()}}))}}},
        {happened::LotteryDrawn{}, "The segments to verify were drawn.", {{"lottery", hash()}}},
        {happened::VerifierDrawn{}, "A verifier was drawn.", {{"segment", integer()}, {"verifier", account()}}},
        {happened::WatcherDrawn{},
         "A watcher was drawn.",
         {{"segment", integer()}, {"verifier", account()}, {"watcher", account()}}},
        {happened::VerdictCommitted{}, "A verifier committed to its verdict.", {{"segment", integer()}}},
        {happened::VerdictPublished{}, "A verdict was published.",
         join(verdict(), {{"failed_checks", failed_checks()}, {"accepts", flag()}})},
        {happened::VerdictDisclosed{},
         "A verdict was disclosed.",
         {{"segment", integer()},
          {"verifier", account()},
          {"end_root", hash()},
          {"probe_root", nullable(hash())},
          {"measurement", nullable(ref("Distances"))},
          {"forced", flag(), "it was a forced error"}}},
        {happened::CommitteeDrawn{},
         "A committee was drawn, to say whether the data is available.",
         {{"sitting", integer()}, {"segments", array(integer())}, {"seats", array(account())}}},
        {happened::CommitteeEnded{}, "The committee ended.", {{"is_available", flag()}}},
        {happened::Attested{}, "A member of the committee attested.", {}},
        {happened::ProfilerDrawn{}, "A profiler was drawn.", {{"profiler", account()}}},
        {happened::ProfileCommitted{}, "A profiler committed to its report.", {}},
        {happened::ProfilePublished{},
         "A profiler's report was published.",
         {{"start_root", hash()},
          {"segments", array(object(
                           {{"native_root", hash()},
                            {"location", text()},
                            {"replayed_root", hash()},
                            {"measurement", nullable(ref("Distances"))}}
                       ))},
          {"reference_root", hash()},
          {"reference", nullable(ref("Distances"))}}},
        {happened::ProfilingEnded{},
         "Profiling ended.",
         {{"outcome", words(ProfilingOutcome::kNotSeparated, &to_string)},
          {"threshold", ref("Distances")},
          {"reference", ref("Distances")}}},
    };
}

std::vector<Event> events_of_disputes() {
    return {
        {happened::DisputeOpened{}, "A segment was disputed.", {{"dispute", hash()}, {"segment", integer()}}},
        {happened::VerdictChallenged{},
         "A verdict was challenged.",
         {{"dispute", hash()}, {"segment", integer()}, {"verifier", account()}}},
        {happened::ProfileChallenged{},
         "A profiler's report was challenged.",
         {{"dispute", hash()}, {"profiler", account()}, {"part", text()}, {"segment", integer()}}},
        {happened::Accused{},
         "A member of a group was accused of a wrong statement.",
         {{"dispute", hash()},
          {"segment", integer()},
          {"accuser", account()},
          {"member", account()},
          {"answers", nullable(hash()), "the dispute that it answers"}}},
        {happened::DisputeMoved{},
         "A party moved.",
         {{"dispute", hash()},
          {"round", integer()},
          {"level", words(dispute::Level::kProof, &dispute::to_string)},
          {"by_responder", flag()}}},
        {happened::DisputeEnded{},
         "A dispute ended.",
         {{"dispute", hash()}, {"claim_refuted", flag()}, {"reason", ref("Reason")}}},
        {happened::MemberConvicted{},
         "A member of a group was convicted.",
         {{"member", account()}, {"reason", ref("Reason")}}},
        {happened::Paid{},
         "Money was paid.",
         {{"to", nullable(account()), "null: the treasury"}, {"amount", amount()}, {"reason", ref("Reason")}}},
        {happened::Slashed{},
         "A bond was slashed.",
         {{"from", account()}, {"amount", amount()}, {"burned", amount(), "of it"}, {"reason", ref("Reason")}}},
    };
}

std::vector<Event> all_events() {
    std::vector<Event> out;
    for (auto part :
         {events_of_training(), events_of_verification(), events_of_disputes(), events_of_retention(),
          events_of_privacy()}) {
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

Schema penalty_event() {
    Schema schema = object({
        {"event", constant(kPenaltyEvent)},
        {"height", height()},
        {"validator", account()},
        {"reason", one_of({"double_sign", "downtime"})},
        {"amount", amount(), "slashed, and burned"},
        {"jailed_until", nullable(height()), "null: for ever, after a double signature"},
    });
    schema["description"] = "A validator was punished (VAL-5, VAL-7).";
    return schema;
}

}  // namespace

std::vector<std::string> event_names() {
    std::vector<std::string> out;
    for (const Event& each : all_events()) {
        out.emplace_back(event_name(each.event));
    }
    return out;
}

void add_event_types(Schema& components) {
    std::vector<Schema> all;
    for (const Event& each : all_events()) {
        const char* event = event_name(each.event);
        const Members head{
            {"event", constant(event)},
            {"task", hash()},
            {"index", integer(), "its place in the task's history"},
            {"height", height()},
            {"tx", nullable(hash()), "that caused it; null where a deadline or a draw did"},
            {"actor", nullable(account()), "who sent it"}};
        Schema schema = object(join(join(head, each.members), {{"raw", hex()}}));
        schema["description"] = each.text;
        const std::string name = std::string("Event_") + event;
        components[name] = std::move(schema);
        all.push_back(ref(name));
    }
    const std::string penalty = std::string("Event_") + kPenaltyEvent;
    components[penalty] = penalty_event();
    components["Event"] = any_of(all);
    components["Event"]["description"] =
        "What happened in a task, as it is hashed into the task's history root (HIS-1).";
    all.push_back(ref(penalty));
    components["ListedEvent"] = any_of(std::move(all));
    components["ListedEvent"]["description"] = "What happened in a task, or to a validator.";
    auto names = event_names();
    names.emplace_back(kPenaltyEvent);
    components["EventName"] = one_of(names);
}

}  // namespace assay::rpc::describe
