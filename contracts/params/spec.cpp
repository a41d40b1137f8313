// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <contracts/params/spec.hpp>
#include <core/dispute/evaluation.hpp>
#include <contracts/state/task.hpp>

namespace assay::contracts {
namespace {

constexpr std::size_t kMaxTitleBytes = 64;
/// What is kept of DSP-4's rounds for the levels that the chain cannot size before it knows the disputed node:
/// tiles of tensors of up to 2^24 tiles, and up to 256 partials.
constexpr std::uint32_t kRoundsForTiles = 3;
constexpr std::uint32_t kRoundsForPartials = 1;

bool is_printable(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// TASK-2.9: rounds that bisecting `count` items down to one takes, kMaxChildren ways at a time.
std::uint32_t rounds_for(std::uint64_t count) {
    std::uint32_t rounds = 0;
    for (; count > 1; count = div_ceil<std::uint64_t>(count, dispute::kMaxChildren)) {
        ++rounds;
    }
    return rounds;
}

// TASK-2.3: an initialisation may only commit to what the task gives; a step that changes nothing is no training.
bool is_init_size(std::uint32_t nodes) { return nodes >= 1 && nodes <= canonical::kMaxNodes; }
bool is_step_size(std::uint32_t nodes) { return nodes >= 2 && nodes <= canonical::kMaxNodes; }

/// TASK-2.3, TASK-2.4 and what TASK-2.5 says of the program.
bool is_program(const dispute::ProgramCommitment& program) {
    return program.state_tensors >= 1 && program.state_tensors <= canonical::kMaxStateTensors &&
           is_init_size(program.init_nodes) && is_step_size(program.step_nodes) && program.batch_size >= 1 &&
           program.batch_size <= canonical::kMaxDimension && canonical::is_valid(program.dataset) &&
           program.initial_tensors <= canonical::kMaxStateTensors &&
           (program.initial_tensors == 0) == program.initial_root.is_zero();
}

/// TASK-2.5: whether the spec says where the program's initial tensors are, exactly when it has any and they are read.
bool has_initial_artifact(const TaskSpec& spec) {
    const bool is_read = spec.program.initial_tensors != 0 && first_segment(spec) == 0;
    return is_read ? spec.initial_artifact && is_location(spec.initial_artifact->location) : !spec.initial_artifact;
}

/// TASK-2.6: in tolerance mode, and only then, the spec commits to a distance program.
bool has_distance(const TaskSpec& spec) {
    if (spec.mode == Mode::kExact) {
        return !spec.distance;
    }
    return spec.distance && is_init_size(spec.distance->nodes);
}

/// TASK-2.8, EVL-1
bool is_evaluation(const TaskSpec& spec) {
    return !spec.evaluation || (is_init_size(spec.evaluation->nodes) && !spec.evaluation->holdout.is_zero() &&
                                is_location(spec.evaluation->data.location));
}

/// TASK-2.11, TASK-2.12
bool has_sound_wishes(const TaskSpec& spec) {
    return (!spec.environment || is_sound(*spec.environment)) && are_sound(spec.checks, spec.program.state_tensors);
}

/// PRV-1
bool is_sound_privacy(const TaskSpec& spec) {
    const auto is_file = [](const SealedFile& file) { return !file.root.is_zero() && file.size != 0; };
    const auto& privacy = spec.privacy;
    return !privacy ||
           (spec.members == 1 && !spec.parent && sealed::is_well_formed(privacy->key) && is_file(privacy->program) &&
            is_file(privacy->dataset) && privacy->initial.has_value() == spec.initial_artifact.has_value() &&
            (!privacy->initial || is_file(*privacy->initial)) &&
            privacy->holdout.has_value() == spec.evaluation.has_value() &&
            (!privacy->holdout || is_file(*privacy->holdout)));
}

/// TASK-2.10, GRP-1
bool is_group_size(const TaskSpec& spec) {
    return spec.members >= 1 && spec.members <= kMaxSeats && (spec.members == 1 || spec.mode == Mode::kExact);
}

}  // namespace

bool is_location(const std::string& location) noexcept {
    return location.size() <= kMaxLocationBytes && is_printable(location);
}

std::uint32_t dispute_rounds_max(const TaskSpec& spec) noexcept {
    const std::uint64_t steps = std::min<std::uint64_t>(spec.steps, spec.checkpoint_interval);
    const std::uint32_t in_segment = rounds_for(steps) + rounds_for(spec.program.step_nodes);
    const std::uint32_t measuring = spec.distance ? rounds_for(spec.distance->nodes) : 0;
    const std::uint32_t evaluating = spec.evaluation ? rounds_for(spec.evaluation->nodes) : 0;
    const std::uint32_t above_tiles =
        std::max({in_segment, rounds_for(spec.program.init_nodes), measuring, evaluating});
    return above_tiles + kRoundsForTiles + kRoundsForPartials;
}

Result<void, TxError> check_spec(const TaskSpec& spec) noexcept {
    // TASK-2.1, TASK-2.2, TASK-2.9 here; the others above, TASK-2.7 where the parameters are known
    const bool sound = spec.title.size() <= kMaxTitleBytes && is_printable(spec.title) && is_program(spec.program) &&
                       is_location(spec.program_artifact.location) && is_location(spec.dataset_artifact.location) &&
                       has_initial_artifact(spec) && has_distance(spec) && is_evaluation(spec) && is_group_size(spec) &&
                       has_sound_wishes(spec) && is_sound_privacy(spec) && spec.steps >= 1 &&
                       spec.checkpoint_interval >= 1 && segment_count(spec) <= kMaxSegments &&
                       checked_mul<std::uint64_t>(spec.steps, spec.program.batch_size).has_value() &&
                       dispute_rounds_max(spec) <= dispute::kMaxRounds;
    if (!sound) {
        return Unexpected{TxError::kSpecInvalid};
    }
    return {};
}

Result<void, TxError> check_submission(const TaskSpec& spec) noexcept {
    TRY(check_spec(spec));
    const auto value = checked_add(spec.reward, spec.verification_fee);
    if (!value || !checked_add(*value, retention_fee(spec))) {
        return Unexpected{TxError::kOverflow};  // LED-3
    }
    return {};
}

}  // namespace assay::contracts
