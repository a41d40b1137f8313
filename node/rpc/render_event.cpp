// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

#include <variant>

#include <node/rpc/describe/types.hpp>

namespace assay::rpc {

namespace {

using namespace contracts::history;

Json fields_of(const Submitted& e) { return {{"escrow", rpc::render(e.escrow)}, {"room", rpc::render(e.room)}}; }
Json fields_of(const SolverDrawn& e) { return {{"solver", rpc::render(e.solver)}}; }
Json fields_of(const Accepted& e) {
    return {
        {"bond", rpc::render(e.bond)}, {"seats", rpc::render(e.seats)}, {"environment", rpc::render(e.environment)}};
}
Json fields_of(const Reseated& e) { return {{"from", e.from}, {"seats", rpc::render(e.seats)}}; }
Json fields_of(const Demanded& e) {
    return {{"accuser", rpc::render(e.accuser)}, {"member", rpc::render(e.member)}, {"is_out", e.is_out}};
}
Json fields_of(const Cut& e) { return {{"first", e.first}, {"member", rpc::render(e.member)}}; }
Json fields_of(const Accused& e) {
    return {
        {"dispute", rpc::render(e.dispute)},
        {"segment", e.segment},
        {"accuser", rpc::render(e.accuser)},
        {"member", rpc::render(e.member)},
        {"answers", e.answers ? rpc::render(*e.answers) : Json()}};
}
Json fields_of(const MemberConvicted& e) {
    return {{"member", rpc::render(e.member)}, {"reason", to_string(e.reason)}};
}
Json fields_of(const CheckpointPosted& e) {
    return {
        {"checkpoint", e.index},
        {"state_root", rpc::render(e.state_root)},
        {"environment", rpc::render(e.environment)},
        {"sealed", rpc::render(e.sealed)}};
}
Json fields_of(const Completed&) { return Json::object(); }
Json fields_of(const VerifierDrawn& e) { return {{"segment", e.segment}, {"verifier", rpc::render(e.verifier)}}; }
Json fields_of(const VerdictCommitted& e) { return {{"segment", e.segment}}; }
Json fields_of(const VerdictPublished& e) {
    return {
        {"segment", e.segment},
        {"end_root", rpc::render(e.verdict.end_root)},
        {"probe_root", e.verdict.probe_root ? rpc::render(*e.verdict.probe_root) : Json()},
        {"measurement", rpc::render(e.verdict.measurement)},
        {"failed_checks", rpc::render_failed_checks(e.verdict.failed_checks)},
        {"accepts", e.accepts}};
}
Json fields_of(const DisputeOpened& e) { return {{"dispute", rpc::render(e.dispute)}, {"segment", e.segment}}; }
Json fields_of(const DisputeMoved& e) {
    return {
        {"dispute", rpc::render(e.dispute)},
        {"round", e.round},
        {"level", dispute::to_string(e.level)},
        {"by_responder", e.by_responder}};
}
Json fields_of(const DisputeEnded& e) {
    return {
        {"dispute", rpc::render(e.dispute)},
        {"claim_refuted", e.claim_refuted},
        {"reason", contracts::to_string(e.reason)}};
}
Json fields_of(const CommitteeDrawn& e) {
    return {{"sitting", e.sitting}, {"segments", e.segments}, {"seats", rpc::render(e.seats)}};
}
Json fields_of(const CommitteeEnded& e) { return {{"is_available", e.is_available}}; }
Json fields_of(const Attested&) { return Json::object(); }
Json fields_of(const Paid& e) {
    return {
        {"to", e.to.is_zero() ? Json() : rpc::render(e.to)},  // SET-8: the treasury
        {"amount", rpc::render(e.amount)},
        {"reason", contracts::to_string(e.reason)}};
}
Json fields_of(const Slashed& e) {
    return {
        {"from", rpc::render(e.from)},
        {"amount", rpc::render(e.amount)},
        {"burned", rpc::render(e.burned)},
        {"reason", contracts::to_string(e.reason)}};
}
Json fields_of(const Diverged& e) {
    return {
        {"checkpoint", e.index},
        {"step", e.step},
        {"state_root", rpc::render(e.state_root)},
        {"sealed", rpc::render(e.sealed)}};
}
Json fields_of(const LotteryDrawn& e) { return {{"lottery", rpc::render(e.lottery)}}; }
Json fields_of(const WatcherDrawn& e) {
    return {{"segment", e.segment}, {"verifier", rpc::render(e.verifier)}, {"watcher", rpc::render(e.watcher)}};
}
Json fields_of(const VerdictDisclosed& e) {
    return {
        {"segment", e.segment},
        {"verifier", rpc::render(e.verifier)},
        {"end_root", rpc::render(e.verdict.end_root)},
        {"probe_root", e.verdict.probe_root ? rpc::render(*e.verdict.probe_root) : Json()},
        {"measurement", rpc::render(e.verdict.measurement)},
        {"forced", e.forced}};
}
Json fields_of(const VerdictChallenged& e) {
    return {{"dispute", rpc::render(e.dispute)}, {"segment", e.segment}, {"verifier", rpc::render(e.verifier)}};
}
Json fields_of(const Tainted& e) { return {{"ancestor", rpc::render(e.ancestor)}}; }
Json fields_of(const ProfilerDrawn& e) { return {{"profiler", rpc::render(e.profiler)}}; }
Json fields_of(const ProfileCommitted&) { return Json::object(); }
Json fields_of(const ProfilePublished& e) { return rpc::render(e.report); }
Json fields_of(const ProfileChallenged& e) {
    return {
        {"dispute", rpc::render(e.dispute)},
        {"profiler", rpc::render(e.profiler)},
        {"part", contracts::to_string(e.part)},
        {"segment", e.segment}};
}
Json fields_of(const ProfilingEnded& e) {
    return {
        {"outcome", contracts::to_string(e.outcome)},
        {"threshold", rpc::render(e.threshold)},
        {"reference", rpc::render(e.reference)}};
}
Json fields_of(const Scored& e) { return {{"score", rpc::render_score(e.score)}}; }
Json fields_of(const RoundClosed& e) {
    Json withheld = Json::array();
    for (const Withheld& each : e.withheld) {
        withheld.push_back({{"contributor", rpc::render(each.contributor)}, {"burned", rpc::render(each.burned)}});
    }
    return {
        {"round", e.round},
        {"seed", rpc::render(e.seed)},
        {"contributors", e.contributors},
        {"withheld", std::move(withheld)}};
}
Json fields_of(const KeepingBegun& e) {
    return {{"fee", rpc::render(e.fee)}, {"bond", rpc::render(e.bond)}, {"shows", e.shows}};
}
Json fields_of(const ShowDrawn& e) { return {{"show", e.show}, {"due", e.due.value}}; }
Json fields_of(const ResultShown& e) { return {{"show", e.show}}; }
Json fields_of(const KeepingEnded& e) { return {{"is_whole", e.is_whole}}; }
Json fields_of(const KeysShared& e) {
    return {{"key", e.key ? rpc::render(*e.key) : Json()}, {"shares", rpc::render(e.shares)}};
}
Json fields_of(const KeysRefused&) { return Json::object(); }
Json fields_of(const StateChanged& e) { return {{"state", contracts::to_string(e.state)}}; }

}  // namespace

Json render(const contracts::HistoryEvent& event) {
    return std::visit([](const auto& fields) { return fields_of(fields); }, event);
}

Json render(const node::ValidatorPenalty& penalty) {
    return {
        {"event", describe::kPenaltyEvent},
        {"height", penalty.height.value},
        {"validator", rpc::render(penalty.account)},
        {"reason", penalty.is_double_sign ? "double_sign" : "downtime"},
        {"amount", rpc::render(penalty.amount)},
        {"jailed_until", penalty.is_double_sign ? Json() : Json(penalty.jailed_until.value)}};
}

}  // namespace assay::rpc
