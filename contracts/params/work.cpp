// SPDX-License-Identifier: Apache-2.0
#include <contracts/params/work.hpp>

#include <algorithm>
#include <limits>

#include <contracts/params/by_value.hpp>
#include <contracts/state/task.hpp>

namespace assay::contracts {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPricedWork = 1'000'000'000;  ///< a price is for so many multiply-adds
constexpr std::uint64_t kWorkPerUnit = 1'000;         ///< of a speed, in a millisecond
constexpr std::uint64_t kCheckedReplays = 2;          ///< PRV-13: segment 1, under the task's seed and the reference's

std::uint64_t narrow(Wide number) { return number > kMaxU64 ? kMaxU64 : static_cast<std::uint64_t>(number); }

std::uint32_t to_clock(Wide blocks) {
    return static_cast<std::uint32_t>(std::min<Wide>(blocks, std::numeric_limits<std::uint32_t>::max()));
}

/// Whole blocks that a machine of such a speed takes (WRK-3).
std::uint64_t blocks_for(const Params& params, Wide work, std::uint64_t speed) {
    return narrow(work / (Wide{speed} * kWorkPerUnit * params.block_ms));
}

Wide training_work(const TaskSpec& spec) {
    constexpr Wide kTooMuch = Wide{1} << 120U;
    const std::uint64_t init = first_segment(spec) == 0 ? spec.program.init_work : 0;
    return std::min(Wide{spec.steps} * spec.program.step_work, kTooMuch) + init;
}

Wide divide_up(Wide number, std::uint64_t divisor) { return (number + divisor - 1) / divisor; }

/// Of all assignments of the first draw of verifiers; a segment's work times at most 2^9.
Wide verifying_work(const Params& params, const TaskSpec& spec) {
    const Amount value = task_value(spec);
    const std::uint32_t segments = segment_count(spec) + 1 - first_segment(spec);
    const std::uint64_t checked = segments_checked(params, spec, segments) + (spec.evaluation ? 1ULL : 0ULL);
    return Wide{segment_work(spec)} * checked * verifiers_per_segment(params, value);
}

/// PRF-3: of all profilers: segments natively and canonically, and the reference; a segment's work times at most 2^9.
Wide profiling_work(const Params& params, const TaskSpec& spec) {
    return Wide{segment_work(spec)} * params.profilers * (2ULL * params.profile_segments + 1);
}

}  // namespace

std::uint64_t class_speed(const Params& params, std::uint32_t number) noexcept {
    if (number != 0) {
        return params.hardware_classes[number - 1].least_score;
    }
    const auto slowest = std::min_element(
        params.hardware_classes.begin(), params.hardware_classes.end(),
        [](const HardwareClass& a, const HardwareClass& b) { return a.least_score < b.least_score; }
    );
    return slowest->least_score;
}

std::uint64_t segment_work(const TaskSpec& spec) noexcept {
    const Wide trained = Wide{std::min<std::uint64_t>(spec.steps, spec.checkpoint_interval)} * spec.program.step_work;
    const Wide init = first_segment(spec) == 0 ? spec.program.init_work : 0;
    const Wide scored = spec.evaluation ? spec.evaluation->work : 0;
    return narrow(std::max({trained, init, scored}) + (spec.distance ? spec.distance->work : 0));
}

std::uint64_t replay_blocks(const Params& params, const TaskSpec& spec) noexcept {
    return blocks_for(params, segment_work(spec), class_speed(params, spec.hardware_class));
}

std::uint64_t hash_blocks(const Params& params, const TaskSpec& spec) noexcept {
    std::uint64_t most = spec.program.outputs;
    most = spec.evaluation ? std::max(most, spec.evaluation->outputs) : most;
    most = spec.distance ? std::max(most, spec.distance->outputs) : most;
    return most / (kHashedPerMs * params.block_ms);
}

std::uint64_t training_blocks_min(const Params& params, const TaskSpec& spec) noexcept {
    // TASK-16: half as long again as the work takes, and a block for each checkpoint and for completing.
    const std::uint64_t worked =
        blocks_for(params, training_work(spec) * 3 / 2, class_speed(params, spec.hardware_class));
    const Wide handed_in = Wide{segment_count(spec)} + 2 + spec.steps / kStepsPerBlock;
    return narrow(handed_in + worked);
}

Result<void, TxError> check_work(const Params& params, const TaskSpec& spec) noexcept {
    const std::uint64_t longest = std::max(replay_blocks(params, spec), hash_blocks(params, spec));
    if (longest > params.replay_blocks_max) {
        return Unexpected{TxError::kSegmentTooLong};  // WRK-4
    }
    if (spec.training_blocks < training_blocks_min(params, spec)) {
        return Unexpected{TxError::kTimeTooShort};  // TASK-16
    }
    if (!pays(params, spec, params.work_price)) {
        return Unexpected{TxError::kFeeBelowWork};  // WRK-6
    }
    return {};
}

std::uint64_t accept_span(const Params& params, const TaskSpec& spec) noexcept {
    const bool is_checked = spec.privacy && spec.mode == Mode::kTolerance;
    return params.accept_blocks + (is_checked ? kCheckedReplays + 1 : 1) * replay_blocks(params, spec);
}

std::uint64_t commit_span(const Params& params, const TaskSpec& spec) noexcept {
    return params.commit_blocks + 3 * replay_blocks(params, spec);
}

std::uint64_t report_span(const Params& params, const TaskSpec& spec) noexcept {
    return params.commit_blocks + 3 * (params.profile_segments + 1ULL) * replay_blocks(params, spec);
}

std::uint64_t challenge_span(const Params& params, const TaskSpec& spec, std::uint64_t convicting) noexcept {
    return params.challenge_blocks + 2 * std::max<std::uint64_t>(convicting, 1) * replay_blocks(params, spec);
}

std::uint64_t report_challenge_span(const Params& params, const TaskSpec& spec) noexcept {
    return params.challenge_blocks + 2 * (params.profile_segments + 1ULL) * replay_blocks(params, spec);
}

std::uint64_t attest_span(const Params& params, const TaskSpec& spec) noexcept {
    return params.attest_blocks + replay_blocks(params, spec);
}

std::uint32_t dispute_clock(const Params& params, const TaskSpec& spec, const Games& games) noexcept {
    const Wide replays = Wide{games.may_answer ? 4U : 2U} * games.claims * replay_blocks(params, spec);
    const Wide hashing = Wide{2} * games.disputes * hash_blocks(params, spec);
    return to_clock(params.dispute_clock_blocks + replays + hashing);
}

std::uint32_t dispute_extension(const Params& params, const TaskSpec& spec, const Games& games) noexcept {
    return to_clock(params.dispute_extension_blocks + Wide{games.claims} * (replay_blocks(params, spec) / 8));
}

bool pays(const Params& params, const TaskSpec& spec, std::uint64_t price) noexcept {
    const std::uint64_t fee = spec.verification_fee.grains;
    if (spec.mode != Mode::kTolerance) {
        return Wide{fee} * kPricedWork >= Wide{price} * verifying_work(params, spec);
    }
    const std::uint64_t part = checked_mul_div(fee, params.profiling_fee_bps, kBasisPoints).value();  // SET-9
    return Wide{fee - part} * kPricedWork >= Wide{price} * verifying_work(params, spec) &&
           (params.profiling_fee_bps == 0 || Wide{part} * kPricedWork >= Wide{price} * profiling_work(params, spec));
}

Amount fee_at(const Params& params, const TaskSpec& spec, std::uint64_t price) noexcept {
    const Wide verifying = divide_up(Wide{price} * verifying_work(params, spec), kPricedWork);
    const std::uint64_t part = params.profiling_fee_bps;
    if (spec.mode != Mode::kTolerance || part == 0) {
        return Amount{narrow(verifying)};
    }
    const Wide profiling = divide_up(Wide{price} * profiling_work(params, spec), kPricedWork);
    const Wide for_profilers = divide_up(profiling * kBasisPoints, part);
    if (part == kBasisPoints && verifying != 0) {
        return Amount{kMaxU64};
    }
    // SET-9 rounds the profilers' part down, so the verifiers' is rounded up.
    const Wide for_verifiers = verifying == 0 ? 0 : (verifying - 1) * kBasisPoints / (kBasisPoints - part) + 1;
    return Amount{narrow(std::max(for_profilers, for_verifiers))};
}

bool consents(const Params& params, const TaskSpec& spec, const Terms& terms) noexcept {
    const std::uint64_t speed = class_speed(params, terms.hardware_class);
    const std::uint64_t memory = terms.memory == 0 ? params.memory_default : terms.memory;
    const bool is_in_time =
        terms.replay_blocks == 0 || blocks_for(params, segment_work(spec), speed) <= terms.replay_blocks;
    return speed >= class_speed(params, spec.hardware_class) && spec.program.memory <= memory && is_in_time &&
           pays(params, spec, terms.price);
}

bool is_consented(const Params& params, const TaskSpec& spec, std::span<const Candidate> candidates) noexcept {
    Wide all = 0;
    Wide consenting = 0;
    for (const Candidate& candidate : candidates) {
        all += candidate.weight;
        consenting += consents(params, spec, candidate.terms) ? candidate.weight : 0;
    }
    return consenting != 0 && 2 * consenting >= all;
}

}  // namespace assay::contracts
