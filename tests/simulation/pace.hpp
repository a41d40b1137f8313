// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/params.hpp>

/// How long stated work takes an honest worker, by the text of WRK-3 and WRK-4 and not by the chain's own code: where
/// the chain's windows stop following the work, workers come too late.
namespace assay::simulation {

__extension__ using Work = unsigned __int128;

/// In simulated milliseconds, of blocks of `interval_ms`: what the work takes on the slowest machine of the task's
/// class.
inline std::uint64_t work_ms(
    const contracts::Params& params, const contracts::TaskSpec& spec, Work work, std::uint64_t interval_ms
) {
    constexpr std::uint64_t kWorkPerUnit = 1'000;  // of a score, in a millisecond
    const auto& classes = params.hardware_classes;
    const auto is_slower = [](const auto& a, const auto& b) { return a.least_score < b.least_score; };
    const std::uint64_t score = spec.hardware_class == 0
                                    ? std::min_element(classes.begin(), classes.end(), is_slower)->least_score
                                    : classes.at(spec.hardware_class - 1).least_score;
    constexpr Work kLongest = 1'000'000'000'000;
    const Work per_block = Work{score} * kWorkPerUnit * params.block_ms;
    return static_cast<std::uint64_t>(std::min(std::min(work, kLongest * kLongest) * interval_ms / per_block, kLongest)
    );
}

/// The work of all steps of a task, and of its initialisation.
inline Work training_work(const contracts::TaskSpec& spec) {
    return std::min<Work>(Work{spec.steps} * spec.program.step_work, Work{1} << 100U) + spec.program.init_work;
}

/// WRK-4: of the segment that has most, with its measurement.
inline Work longest_work(const contracts::TaskSpec& spec) {
    const Work steps = Work{std::min<std::uint64_t>(spec.steps, spec.checkpoint_interval)} * spec.program.step_work;
    const Work init = spec.parent ? 0 : spec.program.init_work;
    const Work scored = spec.evaluation ? spec.evaluation->work : 0;
    return std::max({steps, init, scored}) + (spec.distance ? spec.distance->work : 0);
}

/// A machine that does one thing at a time.
class Machine {
  public:
    struct Job {
        Bytes name;
        std::uint64_t takes_ms = 0;
    };
    /// Gives the time since it was asked last to the first of `wanted` that is not done, what is left of it to the next
    /// one, and so on. Time in which it was asked for nothing is lost.
    void work(std::uint64_t now_ms, const std::vector<Job>& wanted) {
        std::uint64_t left = now_ms - last_ms_.value_or(now_ms);
        for (const Job& job : wanted) {
            std::uint64_t& spent = spent_ms_[job.name];
            const std::uint64_t given = std::min(left, job.takes_ms - std::min(spent, job.takes_ms));
            spent += given;
            left -= given;
        }
        last_ms_ = wanted.empty() ? std::nullopt : std::optional(now_ms);
    }
    bool has_done(const Job& job) const {
        const auto spent = spent_ms_.find(job.name);
        return job.takes_ms == 0 || (spent != spent_ms_.end() && spent->second >= job.takes_ms);
    }

  private:
    std::optional<std::uint64_t> last_ms_;
    std::map<Bytes, std::uint64_t> spent_ms_;
};

}  // namespace assay::simulation
