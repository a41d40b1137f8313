// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <core/base/result.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/params.hpp>

/// Quantities derived from the work that a task's programs state (WRK rules): replay time, windows that scale with it,
/// and minimum fees.
namespace assay::contracts {

/// WRK-3: speed of the slowest machine of the class `number`, in millions of multiply-adds per second; for class 0, of
/// the slowest class. check_class must accept the number.
std::uint64_t class_speed(const Params& params, std::uint32_t number) noexcept;

/// WRK-4: work of the task's largest segment, including the evaluation, plus the work of measuring its distance; 2^64 -
/// 1 on overflow.
std::uint64_t segment_work(const TaskSpec& spec) noexcept;
/// WRK-4: whole blocks that the slowest machine of the task's class needs to replay that segment.
std::uint64_t replay_blocks(const Params& params, const TaskSpec& spec) noexcept;
/// WRK-4: bytes of outputs that a party to a dispute hashes in a millisecond.
inline constexpr std::uint64_t kHashedPerMs = std::uint64_t{1} << 18U;
/// WRK-4: whole blocks in which the outputs of one of the task's graphs are hashed.
std::uint64_t hash_blocks(const Params& params, const TaskSpec& spec) noexcept;
/// TASK-16: minimum value of training_blocks.
std::uint64_t training_blocks_min(const Params& params, const TaskSpec& spec) noexcept;
/// TASK-16: one block is allowed per this many steps, however little work they are.
inline constexpr std::uint64_t kStepsPerBlock = 1'000;

/// Whether verifiers may be asked for this work, and the work is paid. Fails with kSegmentTooLong (WRK-4),
/// kTimeTooShort (TASK-16) or kFeeBelowWork (WRK-6).
Result<void, TxError> check_work(const Params& params, const TaskSpec& spec) noexcept;

/// WRK-5: durations in blocks, for a task that check_work accepts.
std::uint64_t accept_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t commit_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t report_span(const Params& params, const TaskSpec& spec) noexcept;
/// Of verdicts, by so many of whose segments the solver would be convicted by distance.
std::uint64_t challenge_span(const Params& params, const TaskSpec& spec, std::uint64_t convicting = 0) noexcept;
std::uint64_t report_challenge_span(const Params& params, const TaskSpec& spec) noexcept;
std::uint64_t attest_span(const Params& params, const TaskSpec& spec) noexcept;
/// What an account has to play at once in a task.
struct Games {
    std::uint64_t disputes = 1;
    std::uint64_t claims = 1;  ///< that they are about: a claim is replayed once, whoever disputes it
    /// Whether the account may have to search what it was told for who misled it (STM-9), which takes two replays more.
    bool may_answer = false;
};
/// What a party starts with that is in so many games, the new one included, and has at least after a move.
std::uint32_t dispute_clock(const Params& params, const TaskSpec& spec, const Games& games = {}) noexcept;
std::uint32_t dispute_extension(const Params& params, const TaskSpec& spec, const Games& games = {}) noexcept;

/// WRK-6: whether the verification fee pays verifiers, and profilers if any, `price` grains per 10^9 multiply-adds.
bool pays(const Params& params, const TaskSpec& spec, std::uint64_t price) noexcept;
/// The minimum verification fee for which pays() holds, with the number of assignments at the spec's current value;
/// 2^64
/// - 1 on overflow.
Amount fee_at(const Params& params, const TaskSpec& spec, std::uint64_t price) noexcept;
/// TRM-1: the maximum price that a verifier may register, as a multiple of work_price.
inline constexpr std::uint64_t kMostAsked = 4;

/// TRM-2: whether a verifier with these terms consents to the task.
bool consents(const Params& params, const TaskSpec& spec, const Terms& terms) noexcept;
/// TRM-3: whether any candidate consents, and those who do have at least half of the total weight.
bool is_consented(const Params& params, const TaskSpec& spec, std::span<const Candidate> candidates) noexcept;

}  // namespace assay::contracts
