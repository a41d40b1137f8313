// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <core/base/result.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/params.hpp>

/// What follows from the work that a task's programs state (WRK rules): how long a replay takes, the windows that are
/// longer by it, and what verifying is worth.
namespace assay::contracts {

/// WRK-3: what the slowest machine of the class `number` reaches, in millions of multiply-adds per second; of class 0, one
/// of the slowest class. The number is one that check_class takes.
std::uint64_t class_speed(const Params& params, std::uint32_t number) noexcept;

/// WRK-4: the work of the segment that has most, the evaluation included, and of measuring its distance; 2^64 - 1 when it
/// does not fit.
std::uint64_t segment_work(const TaskSpec& spec) noexcept;
/// WRK-4: whole blocks that the slowest machine that may be drawn takes for that segment.
std::uint64_t replay_blocks(const Params& params, const TaskSpec& spec) noexcept;
/// TASK-16: the fewest blocks that the task may give its solver.
std::uint64_t training_blocks_min(const Params& params, const TaskSpec& spec) noexcept;
/// TASK-16: so many steps take a block, however little work they are.
inline constexpr std::uint64_t kStepsPerBlock = 1'000;

/// Whether the chain may ask verifiers for this work, and it is paid: kSegmentTooLong (WRK-4), kTimeTooShort (TASK-16),
/// kFeeBelowWork (WRK-6).
Result<void, TxError> check_work(const Params& params, const TaskSpec& spec) noexcept;

/// WRK-5: spans in blocks, of a task that check_work takes.
std::uint64_t commit_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t report_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t challenge_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t report_challenge_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t attest_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint32_t dispute_clock(const Params& params, const TaskSpec& spec) noexcept;
std::uint32_t dispute_extension(const Params& params, const TaskSpec& spec) noexcept;

/// WRK-6: whether the verification fee pays verifiers, and profilers where there are any, `price` grains for 10^9
/// multiply-adds.
bool pays(const Params& params, const TaskSpec& spec, std::uint64_t price) noexcept;
/// The least verification fee that does, with the assignments of the spec's present value; 2^64 - 1 when it does not fit.
Amount fee_at(const Params& params, const TaskSpec& spec, std::uint64_t price) noexcept;
/// TRM-1: so many times work_price is the most that a verifier may ask for.
inline constexpr std::uint64_t kMostAsked = 4;

/// TRM-2: whether a verifier with these terms consents to the task.
bool consents(const Params& params, const TaskSpec& spec, const Terms& terms) noexcept;
/// TRM-3: whether anybody consents, and those who do have at least half of the weight of all candidates.
bool is_consented(const Params& params, const TaskSpec& spec, std::span<const Candidate> candidates) noexcept;

}  // namespace assay::contracts
