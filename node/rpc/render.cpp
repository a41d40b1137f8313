// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

#include <bit>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/members.hpp>
#include <core/dispute/commitment.hpp>
#include <node/rpc/members.hpp>

namespace assay::rpc {

namespace {

template <class T>
Json raw(const T& record) {
    return to_hex(codec::encode(record));
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

/// Zero bytes stand for nothing and nobody.
template <class Id>
Json id_or_null(const Id& id) {
    return id.is_zero() ? Json() : render(id);
}

Json to_move(const contracts::Dispute& dispute) {
    if (!dispute.game()) {
        return {};
    }
    return contracts::is_responders_turn(dispute) ? "responder" : "challenger";
}

Json render_pinpoint(const dispute::Pinpoint& at) {
    return {
        {"step", at.step},
        {"node", or_null(at.node)},
        {"op", at.op ? Json(canonical::to_string(*at.op)) : Json()},
        {"tile", or_null(at.tile)},
        {"partial", or_null(at.partial)},
        {"tensor", or_null(at.tensor)}};
}

Json render_assignments(const std::vector<contracts::Assignment>& assignments) {
    Json out = Json::array();
    for (const contracts::Assignment& item : assignments) {
        out.push_back(
            {{"segment", item.segment},
             {"verifier", render(item.verifier)},
             {"status", contracts::to_string(item.status)},
             {"end_root", id_or_null(item.end_root)},
             {"offset", item.offset},
             {"probe", item.probe},
             {"probe_root", item.probe_root ? render(*item.probe_root) : Json()},
             {"forced", or_null(item.forced)},
             {"measurement", render(item.measurement)},
             {"diverged_after", or_null(item.diverged_after)},
             {"failed_checks", render_failed_checks(item.failed_checks)},
             {"watchers", render(item.watchers)}}
        );
    }
    return out;
}

Json render_committee(const contracts::Committee& committee) {
    Json members = Json::array();
    for (const contracts::CommitteeMember& member : committee.members) {
        members.push_back(
            {{"account", render(member.account)}, {"seats", member.seats}, {"has_attested", member.has_attested}}
        );
    }
    return {
        {"segments", committee.segments},
        {"members", std::move(members)},
        {"state", contracts::to_string(committee.state)},
        {"sitting", committee.sitting},
        {"seed", render(committee.seed)}};
}

Json render_profiles(const std::vector<contracts::Profile>& profiles) {
    Json out = Json::array();
    for (const contracts::Profile& item : profiles) {
        out.push_back(
            {{"profiler", render(item.profiler)},
             {"status", contracts::to_string(item.status)},
             {"bond", render(item.bond)}}
        );
    }
    return out;
}

Json render_tolerance(const contracts::Tolerance& tolerance) {
    return {
        {"phase", contracts::to_string(tolerance.phase)},
        {"profiles", render_profiles(tolerance.profiles)},
        {"reference_seed", tolerance.reference_seed},
        {"profile_seed", tolerance.profile_seed},
        {"sketch_seed", tolerance.sketch_seed},
        {"threshold", tolerance.threshold ? render(*tolerance.threshold) : Json()},
        {"reference", tolerance.reference ? render(*tolerance.reference) : Json()}};
}

Json render_group(const contracts::Task& task) {
    const contracts::Group& group = task.group.value();
    const auto accounts = [&](const std::vector<std::uint8_t>& numbers) {
        Json out = Json::array();
        for (const std::uint8_t number : numbers) {
            const bool is_vacant = number == contracts::kVacant;
            out.push_back(is_vacant ? Json() : render(contracts::member_account(task, number)));
        }
        return out;
    };
    Json earlier = Json::array();
    for (const contracts::Seating& seating : group.earlier) {
        earlier.push_back({{"until", seating.until}, {"seats", accounts(seating.seats)}});
    }
    Json partners = Json::array();
    for (const contracts::Partner& partner : group.partners) {
        partners.push_back({{"account", render(partner.account)}, {"bond", render(partner.bond)}});
    }
    return {{"partners", std::move(partners)},      {"is_together", group.is_together},
            {"seats", accounts(group.seats)},       {"earlier", std::move(earlier)},
            {"posters", accounts(group.posters)},   {"convicted", accounts(group.convicted)},
            {"culprits", accounts(group.culprits)}, {"demanded", accounts(group.demanded)},
            {"counted", or_null(group.counted)}};
}

const char* subject_of(const contracts::Dispute& dispute) {
    if (dispute.accusation()) {
        return "statement";
    }
    return dispute.verdict() ? "verdict" : dispute.profile() ? "profile" : "segment";
}

Json part_of(const contracts::Dispute& dispute) {
    if (dispute.verdict()) {
        return contracts::to_string(dispute.verdict()->part);
    }
    return dispute.profile() ? Json(contracts::to_string(dispute.profile()->part)) : Json();
}

/// The members that a task has in listings and by itself alike.
Json render_task_head(const contracts::Task& task) {
    return {
        {"id", render(task.id)},
        {"title", task.spec.title},
        {"state", contracts::to_string(task.state)},
        {"submitter", render(task.submitter)},
        {"solver", task.solver ? render(*task.solver) : Json()},
        {"reward", render(task.spec.reward)},
        {"segments", contracts::segment_count(task.spec)},
        {"submitted_at", task.submitted_at.value}};
}

}  // namespace

Json render(const AccountId& account) { return crypto::to_address(account); }

Json render(const std::vector<AccountId>& accounts) {
    Json out = Json::array();
    for (const AccountId& account : accounts) {
        out.push_back(render(account));
    }
    return out;
}
Json render(Amount amount) { return std::to_string(amount.grains); }
Json render(Height height) { return height.value; }

Json render(const contracts::Terms& terms) {
    Json offers = Json::array();
    for (const std::uint64_t offer : terms.offers) {
        offers.push_back(std::to_string(offer));
    }
    return {
        {"hardware_class", terms.hardware_class},
        {"price", terms.price},
        {"memory", terms.memory},
        {"replay_blocks", terms.replay_blocks},
        {"offers", std::move(offers)}};
}

Json render(const contracts::ArtifactRef& artifact) {
    return {{"sha256", render(artifact.sha256)}, {"size_bytes", artifact.size_bytes}, {"location", artifact.location}};
}

Json render(const std::optional<contracts::EvaluationCommitment>& evaluation) {
    if (!evaluation) {
        return {};
    }
    return {
        {"graph_root", render(evaluation->graph_root)},
        {"nodes", evaluation->nodes},
        {"holdout", render(evaluation->holdout)},
        {"data", render(evaluation->data)},
        {"work", evaluation->work},
        {"outputs", evaluation->outputs}};
}

Json render_score(std::uint32_t score) { return static_cast<double>(std::bit_cast<float>(score)); }

Json render(const contracts::Distances& distances) {
    return {{"parameters", distances.parameters}, {"other", distances.other}};
}

Json render(const std::optional<dispute::Measurement>& measurement) {
    if (!measurement) {
        return {};
    }
    return {
        {"parameters", dispute::relative_drift(measurement->parameters)},
        {"other", dispute::relative_drift(measurement->other)}};
}

Json render(const std::vector<contracts::HardwareClass>& classes) {
    Json out = Json::array();
    for (const contracts::HardwareClass& each : classes) {
        out.push_back({{"name", each.name}, {"least_score", each.least_score}});
    }
    return out;
}

Json render(const contracts::Params& params) { return members_of(params, contracts::Params::fields()); }

Json render(const std::vector<contracts::ParamChange>& changes) {
    Json out = Json::array();
    for (const contracts::ParamChange& change : changes) {
        out.push_back({{"param", contracts::to_string(change.param)}, {"value", change.value}});
    }
    return out;
}

Json render(const contracts::Stake& stake) {
    Json unbonding = Json::array();
    for (const contracts::Unbonding& item : stake.unbonding) {
        unbonding.push_back(
            {{"amount", render(item.amount)},
             {"release_at", item.release_at.value},
             {"release_ms", item.release_ms == 0 ? Json() : Json(item.release_ms)}}
        );
    }
    return {
        {"free", render(stake.free)},
        {"locked", render(stake.locked)},
        {"unbonding", std::move(unbonding)},
        {"is_unlisted", stake.is_unlisted},
        {"declined_until", stake.declined_until.value == 0 ? Json() : Json(stake.declined_until.value)}};
}

Json render(const contracts::HistoryRecord& record) {
    Json out = render(record.event);
    out["task"] = render(record.task);
    out["index"] = record.index;
    out["height"] = record.height.value;
    out["tx"] = id_or_null(record.tx);
    out["actor"] = id_or_null(record.actor);
    out["event"] = contracts::event_name(record.event);
    out["raw"] = raw(record);
    return out;
}

Json render_checkpoint(const contracts::TaskId& task, std::uint32_t index, const contracts::Checkpoint& checkpoint) {
    return {
        {"task", render(task)},
        {"index", index},
        {"state_root", render(checkpoint.state_root)},
        {"location", checkpoint.location},
        {"height", checkpoint.height.value},
        {"sealed", render(checkpoint.sealed)},
        {"raw", raw(checkpoint)}};
}

Json render_relative(const contracts::Task& task) {
    return {
        {"id", render(task.id)},
        {"title", task.spec.title},
        {"state", contracts::to_string(task.state)},
        {"parent", task.spec.parent ? render(*task.spec.parent) : Json()},
        {"depth", task.depth},
        {"tainted_by", task.tainted_by ? render(*task.tainted_by) : Json()}};
}

Json render_task_summary(const contracts::Task& task) {
    Json out = render_task_head(task);
    out["checkpoints"] = task.checkpoints;
    return out;
}

namespace {

Json render_retention(const contracts::Task& task) {
    if (!task.spec.retention) {
        return {};
    }
    Json out = render(*task.spec.retention);
    Json& keeping = out["keeping"];
    if (task.keeping) {
        keeping = {
            {"begun_at", task.keeping->begun_at.value},
            {"shows", task.keeping->shows},
            {"shows_due", task.keeping->shows_due},
            {"is_waiting", task.keeping->is_waiting},
            {"is_asked", task.keeping->seed.has_value()}};
    }
    return out;
}

}  // namespace

Json render_task(const contracts::Task& task, const TaskDetails& details) {
    Json out = render_task_head(task);
    Json checkpoints = Json::array();
    for (std::uint32_t i = 0; i < details.checkpoints.size(); ++i) {
        const contracts::Checkpoint& checkpoint = details.checkpoints[i];
        checkpoints.push_back(
            {{"index", i},
             {"state_root", render(checkpoint.state_root)},
             {"location", checkpoint.location},
             {"height", checkpoint.height.value},
             {"sealed", render(checkpoint.sealed)}}
        );
    }
    Json disputes = Json::array();
    for (const contracts::DisputeId& id : details.disputes) {
        disputes.push_back(render(id));
    }
    out["verification_fee"] = render(task.spec.verification_fee);
    out["escrow"] = render(task.escrow);
    out["room"] = render(task.room);
    out["solver_bond"] = render(task.solver_bond);
    out["steps"] = task.spec.steps;
    out["checkpoint_interval"] = task.spec.checkpoint_interval;
    out["checkpoints"] = std::move(checkpoints);
    out["diverged_at"] = or_null(task.diverged_at);
    out["assignments"] = render_assignments(task.assignments);
    out["members"] = task.spec.members;
    out["group"] = task.group ? render_group(task) : Json();
    out["retention"] = render_retention(task);
    out["privacy"] = render_privacy(task);
    out["committee"] = task.committee ? render_committee(*task.committee) : Json();
    out["deadline"] = task.deadline.value;
    out["hardware_class"] = task.spec.hardware_class;
    out["parent"] = task.spec.parent ? render(*task.spec.parent) : Json();
    out["depth"] = task.depth;
    out["tainted_by"] = task.tainted_by ? render(*task.tainted_by) : Json();
    out["open_disputes"] = task.open_disputes;
    out["history_count"] = task.history_count;
    out["history_root"] = render(task.history_root);
    out["lottery"] = id_or_null(task.lottery);
    out["second_window"] = task.second_window;
    out["mode"] = contracts::to_string(task.spec.mode);
    out["tolerance"] = task.tolerance ? render_tolerance(*task.tolerance) : Json();
    out["evaluation"] = render(task.spec.evaluation);
    out["score"] = task.evaluation ? render_score(task.evaluation->score) : Json();
    out["disputes"] = std::move(disputes);
    out["program_id"] = render(dispute::program_id(task.spec.program));
    out["tokenizer"] = task.spec.tokenizer ? render(*task.spec.tokenizer) : Json();
    out["environment"] = render(task.spec.environment);
    out["checks"] = render(task.spec.checks);
    out["raw"] = raw(task);
    return out;
}

Json render_dispute_summary(const contracts::Dispute& dispute, std::optional<double> one_step_us) {
    const contracts::DisputeGame* game = dispute.game();
    const contracts::DisputeEnd end = dispute.end() ? *dispute.end() : contracts::DisputeEnd{};
    const contracts::ChallengedVerdict* challenged = dispute.challenged();
    return {
        {"id", render(dispute.id)},
        {"task", render(dispute.task)},
        {"segment", dispute.segment},
        {"responder", render(dispute.responder)},
        {"challenger", render(dispute.challenger)},
        {"state", contracts::to_string(dispute.state())},
        {"reason", dispute.end() ? Json(contracts::to_string(end.reason)) : Json()},
        {"level", dispute::to_string(dispute.position.level())},
        {"rounds", dispute.position.rounds},
        {"to_move", to_move(dispute)},
        {"pinpoint", render_pinpoint(dispute::pinpoint(dispute.position))},
        {"responder_clock", game ? Json(game->responder_clock) : Json()},
        {"challenger_clock", game ? Json(game->challenger_clock) : Json()},
        {"deadline", dispute.deadline().value},
        {"opened_at", dispute.opened_at.value},
        {"ended_at", end.at.value},
        {"onchain_bytes", dispute.onchain_bytes},
        {"referee_us", or_null(one_step_us)},
        {"slashed", render(end.slashed)},
        {"paid", render(end.paid)},
        {"burned", render(end.burned)},
        {"subject", subject_of(dispute)},
        {"part", part_of(dispute)},
        {"second", challenged && challenged->verdict.is_second},
        {"seal", challenged && !challenged->seal.is_zero() ? render(challenged->seal) : Json()}};
}

Json render_dispute(
    const contracts::Dispute& dispute, std::optional<double> one_step_us, const std::vector<node::DisputeMove>& moves
) {
    Json out = render_dispute_summary(dispute, one_step_us);
    out["moves"] = Json::array();
    for (const node::DisputeMove& move : moves) {
        out["moves"].push_back(
            {{"tx", render(move.tx)},
             {"height", move.height.value},
             {"action", move.action},
             {"size_bytes", move.size_bytes}}
        );
    }
    out["raw"] = raw(dispute);
    return out;
}

}  // namespace assay::rpc
