// SPDX-License-Identifier: Apache-2.0
#include <contracts/duties/lane.hpp>

#include <algorithm>
#include <variant>

#include <contracts/transaction/transaction.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/spec.hpp>
#include <contracts/state/task.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kMovesBeforeProof =
    24;  ///< DSP-4: with the opening and the proof a dispute has at most 26 transactions

/// PRV-4: with verifiers, and with watchers.
constexpr std::uint64_t kSharings = 2;

/// The gas of the largest answer of this kind.
template <class A>
std::uint64_t answer_gas(const Params& params) {
    static_assert(A::kAnswer.owed != Owed::kNothing);
    const Tx answer{TxBody{{}, {}, 0, {}, A{}}, Signature{}};
    return gas_of(answer, A::kAnswer.bytes_max, params);
}

/// DTY-5: that, or the share of a block's gas that its bytes are of a block's bytes, if that is more.
template <class A>
std::uint64_t answer_weight(const Params& params) {
    const std::uint64_t bytes = A::kAnswer.bytes_max;
    const std::uint64_t as_gas = div_ceil<std::uint64_t>(bytes * params.block_gas_max, params.block_size_max);
    return std::max(answer_gas<A>(params), as_gas);
}

std::uint64_t dispute_gas(const Params& params) {
    return kMovesBeforeProof * answer_gas<RevealMove>(params) + answer_gas<ProveMove>(params);
}

/// Of one verdict, whatever becomes of it.
std::uint64_t verdict_gas(const Params& params) {
    return answer_gas<CommitVerdict>(params) + answer_gas<PublishVerdict>(params) +
           answer_gas<DiscloseVerdict>(params) + dispute_gas(params);
}

std::uint64_t verdict_weight(const Params& params) {
    return std::max(
        {answer_weight<CommitVerdict>(params), answer_weight<PublishVerdict>(params),
         answer_weight<DiscloseVerdict>(params)}
    );
}

std::uint64_t training_weight(const Params& params) {
    return std::max(
        {answer_weight<PostCheckpoint>(params), answer_weight<CompleteTask>(params),
         answer_weight<DeclareDivergence>(params)}
    );
}

std::uint64_t profiling_weight(const Params& params) {
    return params.profilers * std::max(answer_weight<CommitProfile>(params), answer_weight<PublishProfile>(params));
}

std::uint64_t show_weight(const Params& params) { return answer_weight<ShowResult>(params); }

std::uint64_t committee_weight(const Params& params) {
    return params.committee_seats * answer_weight<AttestAvailability>(params);
}

/// DTY-5, DTY-6: so many segments with their verdicts, and of each verdict the disputes that have a place.
std::uint64_t judging_weight(const Params& params, std::uint64_t segments, std::uint64_t verifiers) {
    return segments * verifiers * (verdict_weight(params) + verifiers * dispute_weight(params));
}

/// How many segments of such a task get verdicts at once (PAR-3, EVL-5). The specification is sound.
std::uint64_t judged_segments(const Params& params, const TaskSpec& spec) {
    const std::uint32_t trained = segment_count(spec) + 1 - first_segment(spec);
    return segments_checked(params, spec, trained) + (spec.evaluation ? 1U : 0U);
}

/// PRV-4: of a private task, the keys that its solver shares with those who are drawn.
std::uint64_t sharing_weight(const Params& params, const TaskSpec& spec) {
    return spec.privacy ? answer_weight<ShareKeys>(params) : 0;
}

std::uint64_t judging_weight(const Params& params, const TaskSpec& spec) {
    return sharing_weight(params, spec) +
           judging_weight(params, judged_segments(params, spec), verifiers_per_segment(params, task_value(spec)));
}

/// DTY-3. What is not here imposes nothing that was not paid for: a rejection's dispute is paid for with the verdict.
struct ImposedGas {
    const Params& params;

    std::uint64_t operator()(const SubmitTask& action) const {
        if (!check_submission(action.spec)) {
            return 0;  // TASK-2, LED-3: no task comes of it
        }
        const TaskSpec& spec = action.spec;
        const std::uint64_t training =
            (segment_count(spec) + std::uint64_t{1}) * answer_gas<PostCheckpoint>(params) +
            std::max(answer_gas<CompleteTask>(params), answer_gas<DeclareDivergence>(params));
        const std::uint64_t profiling =
            spec.mode == Mode::kTolerance
                ? params.profilers * (answer_gas<CommitProfile>(params) + answer_gas<PublishProfile>(params))
                : 0;
        const std::uint64_t verdicts = judged_segments(params, spec) * verifiers_per_segment(params, task_value(spec));
        const std::uint64_t shows = spec.retention ? params.retention_shows * answer_gas<ShowResult>(params) : 0;
        const std::uint64_t shares = spec.privacy ? kSharings * answer_gas<ShareKeys>(params) : 0;
        return training + profiling + verdicts * verdict_gas(params) + shows + shares;
    }
    std::uint64_t operator()(const OpenDispute&) const { return dispute_gas(params); }
    std::uint64_t operator()(const ChallengeVerdict&) const { return dispute_gas(params); }
    std::uint64_t operator()(const ChallengeProfile&) const { return dispute_gas(params); }
    std::uint64_t operator()(const Accuse&) const { return dispute_gas(params); }
    template <class A>
    std::uint64_t operator()(const A&) const {
        return 0;
    }
};

}  // namespace

std::uint64_t imposed_gas(const Action& action, const Params& params) noexcept {
    return std::visit(ImposedGas{params}, action);
}

Amount least_fee(const Action& action, std::uint64_t gas, Amount base_fee, const Params& params) noexcept {
    // GAS-8, PAR-1: both are far below 2^63.
    const std::uint64_t imposed = fee_of(imposed_gas(action, params), params.gas_price_min).grains;
    return Amount{fee_of(gas, base_fee).grains + imposed};
}

Amount treasury_fee(const Action& action, std::uint64_t gas, const Params& params) noexcept {
    return least_fee(action, gas, params.gas_price_min, params);
}

std::uint64_t lane_half(const Params& params) noexcept {
    // A block that leaves out an answer, for want of room, lacks less than the heaviest answer of being full.
    const std::uint64_t filled =
        params.duty_gas_max - std::min<std::uint64_t>(params.duty_gas_max, dispute_weight(params));
    const std::uint64_t whole = filled * params.duty_wait_blocks;
    const std::uint64_t contributions = params.contributors_max * answer_weight<Contribute>(params);
    return (whole - std::min(whole, contributions)) / 2;
}

std::uint64_t dispute_weight(const Params& params) noexcept {
    return std::max(
        {answer_weight<RevealMove>(params), answer_weight<SelectMove>(params), answer_weight<ProveMove>(params)}
    );
}

std::uint64_t task_weight(const Params& params, const Task& task) noexcept {
    switch (task.state) {
        case TaskState::kDrawn:
        case TaskState::kTraining:
            return training_weight(params);
        case TaskState::kProfiling:
            return task.tolerance.value().phase == ProfilingPhase::kDraw ? 0 : profiling_weight(params);
        case TaskState::kCompleted:
            return is_sitting(task) ? committee_weight(params) : 0;
        case TaskState::kVerifying:
        case TaskState::kChallenge:
        case TaskState::kDisclosure:
            return judging_weight(params, task.spec);
        case TaskState::kKept:
            return task.keeping.value().seed ? show_weight(params) : 0;
        default:
            return 0;
    }
}

std::uint64_t task_weight_max(const Params& params) noexcept {
    return std::max(
        {training_weight(params), profiling_weight(params), committee_weight(params), show_weight(params),
         answer_weight<ShareKeys>(params) +
             judging_weight(params, params.segments_checked_max + 1ULL, params.verifiers_per_segment_max)}
    );
}

bool has_room_for_draw(const StateView& view, const Params& params, const Task& task) noexcept {
    const auto more = [&]() -> std::uint64_t {
        const auto queue = queue_of(task);
        if (!queue || task.lane != 0) {
            return 0;
        }
        switch (*queue) {
            case Queue::kSolver:
                return training_weight(params);
            case Queue::kProfilers:
                return profiling_weight(params);
            case Queue::kVerifiers:
                return needs_committee(task) ? committee_weight(params) : judging_weight(params, task.spec);
            case Queue::kShow:
                return show_weight(params);
            case Queue::kLottery:
                return 0;
        }
        return 0;
    };
    return get_lane(view).tasks + more() <= lane_half(params);
}

bool has_room_for_dispute(const StateView& view, const Params& params) noexcept {
    return get_lane(view).disputes + dispute_weight(params) <= lane_half(params);
}

void hold_lane(Context& context, Task& task) {
    const std::uint64_t weight = task_weight(context.params, task);
    if (weight == task.lane) {
        return;
    }
    Lane lane = get_lane(context.state);
    lane.tasks = lane.tasks - task.lane + weight;
    task.lane = weight;
    set_lane(context.state, lane);
}

void hold_lane(Context& context, Dispute& dispute, bool has_place) {
    if (has_place) {
        return;
    }
    Lane lane = get_lane(context.state);
    dispute.lane = dispute_weight(context.params);
    lane.disputes += dispute.lane;
    set_lane(context.state, lane);
}

void release_lane(Context& context, Dispute& dispute) {
    if (dispute.lane == 0) {
        return;
    }
    Lane lane = get_lane(context.state);
    lane.disputes -= dispute.lane;
    dispute.lane = 0;
    set_lane(context.state, lane);
}

}  // namespace assay::contracts
