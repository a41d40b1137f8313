// SPDX-License-Identifier: Apache-2.0
#include <tests/model/lane.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <variant>

#include <contracts/params/gas.hpp>
#include <contracts/chain/router.hpp>
#include <tests/model/model.hpp>

namespace assay::model {
namespace {

using contracts::DisputeState;
using contracts::Params;
using contracts::TaskState;

template <class A>
std::uint64_t largest(const Params& params) {
    const contracts::Tx tx{contracts::TxBody{{}, {}, 0, {}, A{}}, {}};
    return contracts::gas_of(tx, answer_bytes(tx.body.action).value(), params);
}

template <class A>
std::uint64_t weight(const Params& params) {
    const std::uint64_t whole = answer_bytes(A{}).value() * std::uint64_t{params.block_gas_max};
    const std::uint64_t share = whole / params.block_size_max + (whole % params.block_size_max == 0 ? 0 : 1);
    return std::max(largest<A>(params), share);
}

/// PAR-3
std::uint64_t grown(std::uint64_t least, std::uint64_t step, std::uint64_t most, std::uint64_t value) {
    return std::min(least + (step == 0 ? 0 : value / step), most);
}

std::uint64_t verifiers_of(const Params& params, const contracts::TaskSpec& spec) {
    const std::uint64_t value = spec.reward.grains + spec.verification_fee.grains;
    return grown(
        params.verifiers_per_segment, params.value_per_verifier.grains, params.verifiers_per_segment_max, value
    );
}

/// VER-1, EVL-5: that a draw can be about.
std::uint64_t segments_of(const Params& params, const contracts::TaskSpec& spec) {
    const std::uint64_t value = spec.reward.grains + spec.verification_fee.grains;
    const std::uint64_t trained = (spec.steps - 1) / spec.checkpoint_interval + 1 + (spec.parent ? 0 : 1);
    const std::uint64_t most = params.segments_checked_max;
    const std::uint64_t wanted =
        spec.privacy ? most : grown(params.segments_checked, params.value_per_check.grains, most, value);  // PRV-9
    const std::uint64_t checked = std::min(trained, wanted);
    return checked + (spec.evaluation ? 1 : 0);
}

std::uint64_t weight_of_verdict(const Params& params) {
    using namespace contracts;
    return std::max({weight<CommitVerdict>(params), weight<PublishVerdict>(params), weight<DiscloseVerdict>(params)});
}

std::uint64_t weight_of_verdicts(const Params& params, std::uint64_t segments, std::uint64_t verifiers) {
    using namespace contracts;
    const std::uint64_t verdict = weight_of_verdict(params);
    // DTY-6: its own and one over each other verdict, or the solver's in the place of its own.
    const std::uint64_t disputes = verifiers * weight_of_dispute(params);
    return segments * verifiers * (disputes + verdict);
}

}  // namespace

std::optional<std::size_t> answer_bytes(const contracts::Action& action) {
    static const std::map<std::string, std::size_t> kTable{
        {"accept_task", 1'024},     {"decline_task", 1'024},        {"post_checkpoint", 1'024},
        {"complete_task", 1'024},   {"declare_divergence", 6'144},  {"commit_verdict", 1'024},
        {"publish_verdict", 6'144}, {"disclose_verdict", 1'024},    {"commit_profile", 1'024},
        {"publish_profile", 6'144}, {"attest_availability", 6'144}, {"contribute", 1'024},
        {"show_result", 6'144},     {"reveal_move", 9'216},         {"select_move", 1'024},
        {"prove_move", 41'216},     {"share_keys", 6'144}};
    const auto found = kTable.find(action_name(action));
    return found == kTable.end() ? std::nullopt : std::optional{found->second};
}

std::optional<Owed> owed_by(
    const World& world, const Params& params, const AccountId& who, const contracts::Action& action
) {
    const auto in_task = [&](const TaskId& id, std::uint32_t segment, bool discloses) -> std::optional<Owed> {
        const auto task = world.tasks.find(id);
        if (task == world.tasks.end()) {
            return std::nullopt;
        }
        std::optional<std::uint64_t> due;
        for (const DisputeId& each : task->second.disputes) {
            const Dispute& dispute = world.disputes.at(each);
            const bool awaits = discloses && dispute.state == DisputeState::kAwaiting && dispute.segment == segment &&
                                dispute.verdict && dispute.responder == who;
            if (awaits && (!due || dispute.deadline < *due)) {
                due = dispute.deadline;
            }
        }
        return Owed{who, Hash256{id.data}, segment, due.value_or(task->second.deadline)};
    };
    const auto in_dispute = [&](const DisputeId& id) -> std::optional<Owed> {
        const auto found = world.disputes.find(id);
        if (found == world.disputes.end() || found->second.state != DisputeState::kActive) {
            return std::nullopt;
        }
        const Dispute& dispute = found->second;
        const bool is_turn = who == (dispute.responders_turn ? dispute.responder : dispute.challenger);
        return is_turn ? std::optional{Owed{who, Hash256{id.data}, 0, dispute.deadline}} : std::nullopt;
    };
    const auto find = [&](const auto& a) -> std::optional<Owed> {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, contracts::Contribute>) {
            const auto& round = world.beacon.round;
            return round ? std::optional{Owed{who, {}, 0, round->opened_at + params.contribute_blocks}} : std::nullopt;
        } else if constexpr (requires { a.dispute; }) {
            return in_dispute(a.dispute);
        } else if constexpr (std::is_same_v<A, contracts::CommitVerdict> || std::is_same_v<A, contracts::PublishVerdict> || std::is_same_v<A, contracts::DiscloseVerdict>) {
            return in_task(a.task, a.segment, std::is_same_v<A, contracts::DiscloseVerdict>);
        } else if constexpr (requires { a.task; }) {
            return in_task(a.task, 0, false);
        } else {
            return std::nullopt;
        }
    };
    return answer_bytes(action) ? std::visit(find, action) : std::nullopt;
}

std::uint64_t imposed_by(const contracts::Action& action, const Params& params) {
    using namespace contracts;
    const std::uint64_t dispute = 24 * largest<RevealMove>(params) + largest<ProveMove>(params);
    const auto* submits = std::get_if<SubmitTask>(&action);
    if (submits == nullptr) {
        const bool opens = std::holds_alternative<OpenDispute>(action) ||
                           std::holds_alternative<ChallengeVerdict>(action) ||
                           std::holds_alternative<ChallengeProfile>(action) || std::holds_alternative<Accuse>(action);
        return opens ? dispute : 0;
    }
    const TaskSpec& spec = submits->spec;
    const std::uint64_t fee = spec.retention ? spec.retention->fee.grains : 0;
    const std::uint64_t most = ~std::uint64_t{0} - spec.verification_fee.grains;
    if (!is_sound(spec) || spec.reward.grains > most || fee > most - spec.reward.grains) {
        return 0;  // no task comes of it
    }
    std::uint64_t out = std::max(largest<CompleteTask>(params), largest<DeclareDivergence>(params));
    out += spec.retention ? params.retention_shows * largest<ShowResult>(params) : 0;
    out += spec.privacy ? 2 * largest<ShareKeys>(params) : 0;  // with verifiers, and with watchers
    out += ((spec.steps - 1) / spec.checkpoint_interval + 2) * largest<PostCheckpoint>(params);
    if (spec.mode == Mode::kTolerance) {
        out += params.profilers * (largest<CommitProfile>(params) + largest<PublishProfile>(params));
    }
    const std::uint64_t verdict =
        largest<CommitVerdict>(params) + largest<PublishVerdict>(params) + largest<DiscloseVerdict>(params) + dispute;
    return out + segments_of(params, spec) * verifiers_of(params, spec) * verdict;
}

std::uint64_t weight_of_contributions(const Params& params) {
    return params.contributors_max * weight<contracts::Contribute>(params);
}

std::uint64_t half_of_lane(const Params& params) {
    const std::uint64_t unfilled = weight_of_dispute(params);
    const std::uint64_t whole =
        params.duty_gas_max < unfilled ? 0 : (params.duty_gas_max - unfilled) * params.duty_wait_blocks;
    const std::uint64_t taken = weight_of_contributions(params);
    return taken > whole ? 0 : (whole - taken) / 2;
}

std::uint64_t weight_of_dispute(const Params& params) {
    using namespace contracts;
    return std::max({weight<RevealMove>(params), weight<SelectMove>(params), weight<ProveMove>(params)});
}

std::uint64_t weight_of_training(const Params& params) {
    using namespace contracts;
    return std::max({weight<PostCheckpoint>(params), weight<CompleteTask>(params), weight<DeclareDivergence>(params)});
}

std::uint64_t weight_of_profiling(const Params& params) {
    using namespace contracts;
    return params.profilers * std::max(weight<CommitProfile>(params), weight<PublishProfile>(params));
}

std::uint64_t weight_of_show(const Params& params) { return weight<contracts::ShowResult>(params); }

std::uint64_t weight_of_committee(const Params& params) {
    return params.committee_seats * weight<contracts::AttestAvailability>(params);
}

std::uint64_t weight_of_judging(const Params& params, const contracts::TaskSpec& spec) {
    const std::uint64_t sharing = spec.privacy ? weight<contracts::ShareKeys>(params) : 0;
    return sharing + weight_of_verdicts(params, segments_of(params, spec), verifiers_of(params, spec));
}

std::uint64_t weight_of(const Params& params, const Task& task) {
    if (is_over(task.state)) {
        return 0;
    }
    if (task.state == TaskState::kKept) {
        return task.kept->seed ? weight<contracts::ShowResult>(params) : 0;
    }
    if (task.state == TaskState::kProfiling) {
        return task.profiling->profilers.empty() ? 0 : weight_of_profiling(params);
    }
    if (task.state == TaskState::kDrawn || task.state == TaskState::kTraining) {
        return weight_of_training(params);
    }
    if (task.state == TaskState::kCompleted) {
        return is_sitting(task) ? weight_of_committee(params) : 0;
    }
    return task.state == TaskState::kOpen || task.state == TaskState::kJudged ? 0
                                                                              : weight_of_judging(params, task.spec);
}

std::uint64_t owed_in(const Params& params, const World& world, const Task& task) {
    using namespace contracts;
    const bool is_solvers_turn = task.state == TaskState::kDrawn || task.state == TaskState::kTraining;
    std::uint64_t out = is_solvers_turn ? weight_of_training(params) : 0;
    out += task.kept && task.kept->seed ? weight<ShowResult>(params) : 0;
    out += task.state == TaskState::kVerifying && owes_keys(task) ? weight<ShareKeys>(params) : 0;
    for (const Profiler& profiler : task.profiling ? task.profiling->profilers : std::vector<Profiler>{}) {
        const bool owes = profiler.status == ProfileStatus::kDue || profiler.status == ProfileStatus::kCommitted;
        out += owes ? weight_of_profiling(params) / params.profilers : 0;
    }
    for (const Member& member : is_sitting(task) ? task.committee->members : std::vector<Member>{}) {
        out += member.has_attested ? 0 : weight<AttestAvailability>(params);
    }
    for (const Duty& duty : task.duties) {
        const bool owes = duty.status == VerdictStatus::kDue || duty.status == VerdictStatus::kCommitted;
        out += owes || is_secret(duty) ? weight_of_verdict(params) : 0;
    }
    for (const DisputeId& id : task.disputes) {
        // STM-9: in an answer nothing is owed that is not owed in what it answers.
        const Dispute& dispute = world.disputes.at(id);
        const bool is_answer = dispute.blame && dispute.blame->answers;
        out += dispute.lane == 0 && !is_answer ? weight_of_dispute(params) : 0;
    }
    return out;
}

std::uint64_t weight_at_most(const Params& params) {
    return std::max(
        {weight_of_training(params), weight_of_profiling(params), weight_of_committee(params),
         weight<contracts::ShowResult>(params),
         weight<contracts::ShareKeys>(params) +
             weight_of_verdicts(params, params.segments_checked_max + 1ULL, params.verifiers_per_segment_max)}
    );
}

}  // namespace assay::model
