// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

#include <variant>

#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::rpc {

namespace {

using namespace contracts;

Json fields_of(const Transfer& a) { return {{"to", rpc::render(a.to)}, {"amount", rpc::render(a.amount)}}; }
Json fields_of(const Bond& a) { return {{"role", to_string(a.role)}, {"amount", rpc::render(a.amount)}}; }
Json fields_of(const Unbond& a) { return {{"role", to_string(a.role)}, {"amount", rpc::render(a.amount)}}; }
Json fields_of(const SubmitTask& a) { return rpc::render(a.spec); }
Json fields_of(const AcceptTask& a) { return {{"task", rpc::render(a.task)}}; }
Json fields_of(const PostCheckpoint& a) {
    return {
        {"task", rpc::render(a.task)},
        {"index", a.index},
        {"state_root", rpc::render(a.state_root)},
        {"artifact", rpc::render(a.artifact)}};
}
Json fields_of(const CompleteTask& a) {
    return {{"task", rpc::render(a.task)}, {"score", a.evaluation ? rpc::render_score(a.evaluation->score) : Json()}};
}
Json fields_of(const DeclineTask& a) { return {{"task", rpc::render(a.task)}}; }
Json fields_of(const CancelTask& a) { return {{"task", rpc::render(a.task)}}; }
Json fields_of(const CommitVerdict& a) {
    return {{"task", rpc::render(a.task)}, {"segment", a.segment}, {"commitment", rpc::render(a.commitment)}};
}
Json fields_of(const PublishVerdict& a) {
    return {
        {"task", rpc::render(a.task)},
        {"segment", a.segment},
        {"end_root", rpc::render(a.verdict.end_root)},
        {"probe_root", a.verdict.probe_root ? rpc::render(*a.verdict.probe_root) : Json()},
        {"measurement", rpc::render(a.verdict.measurement)},
        {"diverged_after", a.verdict.diverged_after ? Json(*a.verdict.diverged_after) : Json()}};
}
Json fields_of(const DiscloseVerdict& a) {
    const Verdict& verdict = a.opening.verdict;
    Json marks = Json::array();
    for (const Hash256& mark : a.opening.marks) {
        marks.push_back(rpc::render(mark));
    }
    return {
        {"task", rpc::render(a.task)},
        {"segment", a.segment},
        {"end_root", rpc::render(verdict.end_root)},
        {"marks", std::move(marks)},
        {"measurement", rpc::render(verdict.measurement)},
        {"decoy_root", rpc::render(a.opening.decoy_root)},
        {"salt", rpc::render(a.opening.salt)}};
}
Json fields_of(const ChallengeVerdict& a) {
    return {{"task", rpc::render(a.task)}, {"segment", a.segment},      {"verifier", rpc::render(a.verifier)},
            {"role", to_string(a.role)},   {"part", to_string(a.part)}, {"seal", rpc::render(a.seal)}};
}
Json fields_of(const OpenDispute& a) {
    return {{"task", rpc::render(a.task)}, {"segment", a.segment}, {"role", to_string(a.role)}};
}
Json fields_of(const RevealMove& a) {
    return {{"dispute", rpc::render(a.dispute)}, {"round", a.round}, {"children", a.children.size()}};
}
Json fields_of(const SelectMove& a) {
    return {
        {"dispute", rpc::render(a.dispute)},
        {"round", a.round},
        {"child", a.selection.child},
        {"op", a.selection.node ? Json(canonical::to_string(a.selection.node->node.op)) : Json()}};
}
Json fields_of(const ProveMove& a) {
    return {{"dispute", rpc::render(a.dispute)},  {"accumulator", a.proof.before.has_value()},
            {"tiles", a.proof.tiles.size()},      {"row", a.proof.row.has_value()},
            {"entry", a.proof.entry.has_value()}, {"divergence", a.proof.divergence.has_value()}};
}
Json fields_of(const AttestAvailability& a) {
    return {{"task", rpc::render(a.task)}, {"tensor", a.opening.tensor}, {"tile", a.opening.tile}};
}

Json fields_of(const RegisterTerms& a) {
    return {{"role", to_string(a.role)}, {"terms", rpc::render(a.terms)}, {"score", a.score}};
}

Json fields_of(const DeclareDivergence& a) {
    return {
        {"task", rpc::render(a.task)},
        {"step", a.step},
        {"state_root", rpc::render(a.state_root)},
        {"artifact", rpc::render(a.artifact)},
        {"tensor", a.opening.tensor},
        {"tile", a.opening.tile}};
}

Json fields_of(const RegisterValidator& a) {
    return {{"key", to_hex(a.key.view())}, {"proof", to_hex(a.proof.view())}};
}
Json fields_of(const Unjail& /*a*/) { return Json::object(); }
Json fields_of(const JoinBeacon& a) { return {{"commitment", rpc::render(a.commitment)}}; }
Json fields_of(const Contribute& a) { return {{"secret", rpc::render(a.secret)}, {"next", rpc::render(a.next)}}; }
Json fields_of(const LeaveBeacon& /*a*/) { return Json::object(); }
Json fields_of(const CommitProfile& a) {
    return {{"task", rpc::render(a.task)}, {"commitment", rpc::render(a.commitment)}};
}
Json fields_of(const PublishProfile& a) {
    Json out = rpc::render(a.report);
    out["task"] = rpc::render(a.task);
    out["salt"] = rpc::render(a.salt);
    return out;
}
Json fields_of(const ChallengeProfile& a) {
    return {
        {"task", rpc::render(a.task)},
        {"profiler", rpc::render(a.profiler)},
        {"role", to_string(a.role)},
        {"part", to_string(a.part)},
        {"segment", a.segment}};
}

}  // namespace

Json render(const contracts::ProfileReport& report) {
    Json segments = Json::array();
    for (const contracts::ProfileSegment& segment : report.segments) {
        segments.push_back(
            {{"native_root", render(segment.native_root)},
             {"native", render(segment.native)},
             {"replayed_root", render(segment.replayed_root)},
             {"measurement", render(std::optional{segment.measurement})}}
        );
    }
    return {
        {"start_root", render(report.start_root)},
        {"segments", std::move(segments)},
        {"reference_root", render(report.reference_root)},
        {"reference", render(std::optional{report.reference})}};
}

Json render(const contracts::Action& action) {
    return std::visit([](const auto& fields) { return fields_of(fields); }, action);
}

Json render(const contracts::TaskSpec& spec) {
    return {
        {"title", spec.title},
        {"program_id", render(dispute::program_id(spec.program))},
        {"init_work", spec.program.init_work},
        {"step_work", spec.program.step_work},
        {"memory", spec.program.memory},
        {"program_artifact", render(spec.program_artifact)},
        {"dataset_root", render(spec.dataset_root)},
        {"dataset_artifact", render(spec.dataset_artifact)},
        {"initial_root", spec.initial_artifact ? render(spec.program.initial_root) : Json()},
        {"initial_artifact", spec.initial_artifact ? render(*spec.initial_artifact) : Json()},
        {"seed", spec.seed},
        {"steps", spec.steps},
        {"checkpoint_interval", spec.checkpoint_interval},
        {"reward", render(spec.reward)},
        {"verification_fee", render(spec.verification_fee)},
        {"training_blocks", spec.training_blocks},
        {"hardware_class", spec.hardware_class},
        {"parent", spec.parent ? render(*spec.parent) : Json()},
        {"mode", to_string(spec.mode)},
        {"evaluation", render(spec.evaluation)}};
}

}  // namespace assay::rpc
