// SPDX-License-Identifier: Apache-2.0
/// What follows from stated work (WRK and TRM rules).
#include <tests/model/model.hpp>

#include <algorithm>

namespace assay::model {
namespace {

__extension__ using Big = unsigned __int128;

using contracts::Role;
using contracts::TxError;

std::uint64_t segments_of(const contracts::TaskSpec& spec) { return (spec.steps - 1) / spec.checkpoint_interval + 1; }

/// Of one verifier's duty at most.
Big work_of(const contracts::TaskSpec& spec) {
    Big most = Big{std::min<std::uint64_t>(spec.steps, spec.checkpoint_interval)} * spec.program.step_work;
    if (!spec.parent) {
        most = std::max<Big>(most, spec.program.init_work);
    }
    if (spec.evaluation) {
        most = std::max<Big>(most, spec.evaluation->work);
    }
    return spec.distance ? most + spec.distance->work : most;
}

}  // namespace

std::uint64_t Model::speed_of(std::uint32_t hardware_class) const {
    // WRK-3
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t number = 1; number <= params_.hardware_classes.size(); ++number) {
        const std::uint64_t score = params_.hardware_classes[number - 1].least_score;
        if (number == hardware_class) {
            return score;
        }
        least = std::min(least, score);
    }
    return least;
}

std::uint64_t Model::blocks_of(const contracts::TaskSpec& spec, std::uint32_t hardware_class) const {
    // A score is for a second of a million multiply-adds: per millisecond, a thousand.
    const Big in_a_block = Big{speed_of(hardware_class)} * 1'000 * params_.block_ms;
    return static_cast<std::uint64_t>(work_of(spec) / in_a_block);
}

std::uint64_t Model::hashing_of(const contracts::TaskSpec& spec) const {
    // WRK-4: 256 KiB in a millisecond.
    const auto blocks_of_bytes = [&](std::uint64_t bytes) {
        return static_cast<std::uint64_t>(Big{bytes} / (Big{262'144} * params_.block_ms));
    };
    std::uint64_t most = blocks_of_bytes(spec.program.outputs);
    if (spec.distance) {
        most = std::max(most, blocks_of_bytes(spec.distance->outputs));
    }
    if (spec.evaluation) {
        most = std::max(most, blocks_of_bytes(spec.evaluation->outputs));
    }
    return most;
}

std::uint64_t Model::delay_of(const contracts::TaskSpec& spec) const {
    return flaw_ == Flaw::kFixedWindows ? 0 : blocks_of(spec, spec.hardware_class);
}

std::uint64_t Model::accept_window(const contracts::TaskSpec& spec) const {
    const bool is_checked = spec.privacy && spec.mode == contracts::Mode::kTolerance;  // PRV-13
    return params_.accept_blocks + (is_checked ? 3 : 1) * delay_of(spec);              // WRK-5
}

std::uint64_t Model::report_window(const contracts::TaskSpec& spec) const {
    return params_.commit_blocks + 3 * (params_.profile_segments + 1) * delay_of(spec);  // WRK-5
}

std::uint64_t Model::report_challenge_window(const contracts::TaskSpec& spec) const {
    return params_.challenge_blocks + (params_.profile_segments + 1) * 2 * delay_of(spec);  // WRK-5
}

std::uint64_t Model::challenge_window(const contracts::TaskSpec& spec) const {
    return params_.challenge_blocks + 2 * delay_of(spec);  // WRK-5
}

std::uint64_t Model::clock_of(
    const contracts::TaskSpec& spec, std::uint64_t disputes, std::uint64_t claims, std::uint64_t replays
) const {
    // WRK-5
    if (flaw_ == Flaw::kOneGame) {
        disputes = claims = 1;
    }
    const std::uint64_t hashing = flaw_ == Flaw::kFixedWindows ? 0 : hashing_of(spec);
    return params_.dispute_clock_blocks + replays * claims * delay_of(spec) + 2 * disputes * hashing;
}

bool Model::is_paid(const contracts::TaskSpec& spec, std::uint64_t price) const {
    // WRK-6, PAR-3
    const std::uint64_t fee = spec.verification_fee.grains;
    const std::uint64_t value = spec.reward.grains + fee;
    const auto grown = [&](std::uint64_t least, std::uint64_t step, std::uint64_t most) {
        return std::min(least + (step == 0 ? 0 : value / step), most);
    };
    const std::uint64_t trained = segments_of(spec) + (spec.parent ? 0 : 1);
    const std::uint64_t most = params_.segments_checked_max;
    std::uint64_t checked =
        spec.privacy ? most : grown(params_.segments_checked, params_.value_per_check.grains, most);  // PRV-9
    checked = std::min(trained, checked);
    checked += spec.evaluation ? 1U : 0U;
    const std::uint64_t each =
        grown(params_.verifiers_per_segment, params_.value_per_verifier.grains, params_.verifiers_per_segment_max);
    const bool profiled = spec.mode == contracts::Mode::kTolerance;
    const auto part = profiled ? static_cast<std::uint64_t>(Big{fee} * params_.profiling_fee_bps / 10'000) : 0;
    const Big due = work_of(spec) * price;
    const bool verifiers = Big{fee - part} * 1'000'000'000 >= due * checked * each;
    const std::uint64_t parts = 2 * params_.profile_segments + 1;
    const bool profilers =
        !profiled || params_.profiling_fee_bps == 0 || Big{part} * 1'000'000'000 >= due * parts * params_.profilers;
    return verifiers && profilers;
}

Model::Why Model::why_work(const contracts::TaskSpec& spec) const {
    Why out;
    if (blocks_of(spec, spec.hardware_class) > params_.replay_blocks_max ||
        hashing_of(spec) > params_.replay_blocks_max) {
        out.insert(TxError::kSegmentTooLong);  // WRK-4
    }
    Big trained = Big{spec.steps} * spec.program.step_work;
    if (!spec.parent) {
        trained += spec.program.init_work;
    }
    const Big in_a_block = Big{speed_of(spec.hardware_class)} * 1'000 * params_.block_ms;
    const Big least = segments_of(spec) + 2 + spec.steps / 1'000 + trained * 3 / 2 / in_a_block;
    if (spec.training_blocks < least) {
        out.insert(TxError::kTimeTooShort);  // TASK-16
    }
    if (!is_paid(spec, params_.work_price)) {
        out.insert(TxError::kFeeBelowWork);  // WRK-6
    }
    return out;
}

bool Model::agrees(
    const std::map<StakeKey, Machine>& machines, const AccountId& verifier, const contracts::TaskSpec& spec
) const {
    // TRM-2
    const auto found = machines.find({Role::kVerifier, verifier});
    const contracts::Terms terms = found == machines.end() ? contracts::Terms{} : found->second.terms;
    if (flaw_ == Flaw::kIgnoresTerms) {
        return true;
    }
    const bool fast = speed_of(terms.hardware_class) >= speed_of(spec.hardware_class);
    const bool fits = spec.program.memory <= (terms.memory != 0 ? terms.memory : params_.memory_default);
    const bool short_enough = terms.replay_blocks == 0 || blocks_of(spec, terms.hardware_class) <= terms.replay_blocks;
    return fast && fits && short_enough && is_paid(spec, terms.price);
}

bool Model::has_quorum(const Task& task, std::uint64_t needed) const {
    // TRM-3
    Big all = 0;
    Big agreeing = 0;
    bool is_somebody_free = false;
    const auto& stakes = flaw_ == Flaw::kFreshPool ? world_.stakes : opening_.stakes;  // BCN-4
    for (const auto& [account, weight] : pool(Role::kVerifier)) {
        const Big whole = Big{weight} + stakes.at({Role::kVerifier, account}).locked;
        if (account == task.submitter || whole < needed) {
            continue;
        }
        all += whole;
        if (agrees(opening_.machines, account, task.spec)) {
            agreeing += whole;
            is_somebody_free = is_somebody_free || weight >= needed;
        }
    }
    return is_somebody_free && agreeing >= all - agreeing;
}

}  // namespace assay::model
