// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

#include <string>
#include <variant>

#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>
#include <node/rpc/members.hpp>

namespace assay::rpc {

namespace {

using namespace contracts;

/// What is shown of an action: its fields under their names, unless there is a function below for it.
template <class A>
Json fields_of(const A& action) {
    return members_of(action, A::fields());
}
Json fields_of(const SubmitTask& a) { return rpc::render(a.spec); }
Json fields_of(const NameOperator& a) { return {{"account", a.account ? rpc::render(*a.account) : Json()}}; }
Json fields_of(const AcceptTask& a) {
    return {
        {"task", rpc::render(a.task)},
        {"seats", rpc::render(a.seats)},
        {"is_together", a.is_together},
        {"environment", rpc::render(a.environment)}};
}
Json fields_of(const Reseat& a) {
    return {{"task", rpc::render(a.task)}, {"from", a.from}, {"seats", rpc::render(a.seats)}};
}
Json fields_of(const CompleteTask& a) {
    return {{"task", rpc::render(a.task)}, {"score", a.evaluation ? rpc::render_score(a.evaluation->score) : Json()}};
}
Json fields_of(const PublishVerdict& a) {
    return {
        {"task", rpc::render(a.task)},
        {"segment", a.segment},
        {"end_root", rpc::render(a.verdict.end_root)},
        {"probe_root", a.verdict.probe_root ? rpc::render(*a.verdict.probe_root) : Json()},
        {"measurement", rpc::render(a.verdict.measurement)},
        {"diverged_after", a.verdict.diverged_after ? Json(*a.verdict.diverged_after) : Json()},
        {"failed_checks", rpc::render_failed_checks(a.verdict.failed_checks)}};
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
        {"failed_checks", rpc::render_failed_checks(verdict.failed_checks)},
        {"decoy_root", rpc::render(a.opening.decoy_root)},
        {"salt", rpc::render(a.opening.salt)}};
}
Json fields_of(const ChallengeVerdict& a) {
    return {{"task", rpc::render(a.task)}, {"segment", a.segment},      {"verifier", rpc::render(a.verifier)},
            {"role", to_string(a.role)},   {"part", to_string(a.part)}, {"seal", rpc::render(a.seal)}};
}
Json fields_of(const RevealMove& a) {
    return {{"dispute", rpc::render(a.dispute)}, {"round", a.round}, {"children", a.children.size()}};
}
Json fields_of(const SelectMove& a) {
    return {
        {"dispute", rpc::render(a.dispute)},
        {"round", a.round},
        {"child", a.selection.child},
        {"op", a.selection.node ? Json(canonical::to_string(op_of(a.selection.node->node))) : Json()}};
}
Json fields_of(const ProveMove& a) {
    const auto* partial = std::get_if<dispute::PartialProof>(&a.proof);
    return {
        {"dispute", rpc::render(a.dispute)},
        {"accumulator", partial != nullptr && partial->before.has_value()},
        {"tiles", partial != nullptr ? partial->tiles.size() : 0},
        {"chunks", partial != nullptr ? partial->chunks.size() : 0},
        {"entry", std::holds_alternative<dispute::EntryProof>(a.proof)},
        {"divergence", std::holds_alternative<dispute::DivergenceProof>(a.proof)}};
}
/// What a piece of a statement is about.
Json stated(const dispute::StatedPiece& stated) {
    const dispute::Piece& piece = stated.piece;
    return {
        {"step", stated.statement.step},
        {piece.source == canonical::Source::kNode ? "node" : "tensor", piece.index},
        {"is_part", piece.part.has_value()},
        {"row", piece.row},
        {"col", piece.col},
        {"rows", piece.rows},
        {"cols", piece.cols}};
}
Json fields_of(const Accuse& a) {
    return {
        {"task", rpc::render(a.task)},
        {"member", rpc::render(a.member)},
        {"stated", stated(a.contradiction.stated)},
        {"answers", a.answers ? rpc::render(*a.answers) : Json()}};
}
Json fields_of(const ReportEquivocation& a) {
    return {{"task", rpc::render(a.task)}, {"member", rpc::render(a.member)}, {"stated", stated(a.one)}};
}
Json fields_of(const AttestAvailability& a) { return rpc::render_opening(a.task, a.opening); }
Json fields_of(const ShowResult& a) { return rpc::render_opening(a.task, a.opening); }
Json fields_of(const ShareKeys& a) {
    Json to = Json::array();
    for (const KeyShare& share : a.shares) {
        to.push_back(rpc::render(share.to));
    }
    return {{"task", rpc::render(a.task)}, {"key", a.key ? rpc::render(*a.key) : Json()}, {"to", std::move(to)}};
}
Json fields_of(const ReportWrongKeys& a) {
    return {{"task", rpc::render(a.task)}, {"is_of_checkpoints", a.is_of_checkpoints}};
}
Json fields_of(const ReportWrongChunk& a) {
    return {
        {"task", rpc::render(a.task)},
        {"checkpoint", a.checkpoint},
        {"group", a.evidence.opening.group},
        {"chunk", a.evidence.opening.chunk}};
}

Json fields_of(const DeclareDivergence& a) {
    return {
        {"task", rpc::render(a.task)},
        {"step", a.step},
        {"state_root", rpc::render(a.state_root)},
        {"location", a.location},
        {"tensor", a.opening.tensor},
        {"tile", a.opening.tile}};
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
             {"location", segment.location},
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
        {"outputs", spec.program.outputs},
        {"program_artifact", render(spec.program_artifact)},
        {"dataset_root", render(spec.dataset_root)},
        {"dataset_artifact", render(spec.dataset_artifact)},
        {"tokenizer", spec.tokenizer ? render(*spec.tokenizer) : Json()},
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
        {"evaluation", render(spec.evaluation)},
        {"environment", render(spec.environment)},
        {"checks", render(spec.checks)},
        {"retention", spec.retention ? render(*spec.retention) : Json()},
        {"privacy", render(spec.privacy)}};
}

Json render(const contracts::Retention& retention) {
    return {{"blocks", retention.blocks}, {"fee", render(retention.fee)}};
}

}  // namespace assay::rpc
