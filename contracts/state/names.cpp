// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include <contracts/state/dispute.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/verdict.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/task.hpp>

/// The words that stand for numbers of the protocol in RPC, CLI and logs (TX-10).
namespace assay::contracts {
namespace {

/// Names of an enum that counts from 1.
template <std::size_t kCount, class E>
const char* name_of(const std::array<const char*, kCount>& names, E value) {
    const auto index = static_cast<std::size_t>(value);
    return index >= 1 && index <= kCount ? names[index - 1] : "unknown";
}

constexpr std::array<const char*, 4> kRoles{"solver", "verifier", "whistleblower", "validator"};

constexpr std::array<const char*, 14> kTaskStates{"open",      "drawn",      "training",  "completed", "verifying",
                                                  "challenge", "disclosure", "judged",    "settled",   "convicted",
                                                  "cancelled", "expired",    "profiling", "refused"};

constexpr std::array<const char*, 8> kVerdicts{"due",    "committed", "accepted", "rejected",
                                               "missed", "broken",    "refuted",  "contradicted"};

constexpr std::array<const char*, 25> kReasons{
    "reward",
    "verification_fee",
    "refund",
    "won_dispute",
    "lost_dispute",
    "false_accusation",
    "dispute_timeout",
    "unavailable",
    "missed_deadline",
    "missed_verdict",
    "wrong_verdict",
    "attestation",
    "moot",
    "tax",
    "jackpot",
    "forced_error",
    "broken_commitment",
    "undisclosed",
    "contradiction",
    "beyond_tolerance",
    "beyond_budget",
    "profiling_fee",
    "withheld_secret",
    "room",
    "unserved"};

constexpr std::array<const char*, 6> kDisputeStates{"active", "refuted", "upheld", "moot", "awaiting", "forced"};

constexpr std::array<const char*, 3> kCommitteeStates{"sitting", "available", "withheld"};

constexpr std::array<const char*, std::variant_size_v<HistoryEvent>> kEvents{
    "submitted",
    "solver_drawn",
    "accepted",
    "checkpoint_posted",
    "completed",
    "verifier_drawn",
    "verdict_committed",
    "verdict_published",
    "dispute_opened",
    "dispute_moved",
    "dispute_ended",
    "committee_drawn",
    "committee_ended",
    "paid",
    "slashed",
    "state_changed",
    "diverged",
    "lottery_drawn",
    "watcher_drawn",
    "verdict_disclosed",
    "verdict_challenged",
    "tainted",
    "profiler_drawn",
    "profile_committed",
    "profile_published",
    "profile_challenged",
    "profiling_ended",
    "scored",
    "round_closed",
    "attested"};

constexpr std::array<const char*, 2> kModes{"exact", "tolerance"};
constexpr std::array<const char*, 3> kVerdictParts{"probe", "end", "measurement"};
constexpr std::array<const char*, 5> kProfileParts{
    "start", "replayed", "measurement", "reference", "reference_measurement"};
constexpr std::array<const char*, 5> kPhases{"draw", "commit", "publish", "challenge", "over"};
constexpr std::array<const char*, 5> kProfiles{"due", "committed", "standing", "missed", "refuted"};
constexpr std::array<const char*, 3> kOutcomes{"bounded", "too_few", "not_separated"};

}  // namespace

const char* to_string(Role role) noexcept { return name_of(kRoles, role); }
const char* to_string(Mode mode) noexcept { return name_of(kModes, mode); }
const char* to_string(VerdictPart part) noexcept { return name_of(kVerdictParts, part); }
const char* to_string(ProfilePart part) noexcept { return name_of(kProfileParts, part); }
const char* to_string(ProfilingPhase phase) noexcept { return name_of(kPhases, phase); }
const char* to_string(ProfileStatus status) noexcept { return name_of(kProfiles, status); }
const char* to_string(ProfilingOutcome outcome) noexcept { return name_of(kOutcomes, outcome); }
const char* to_string(TaskState state) noexcept { return name_of(kTaskStates, state); }
const char* to_string(VerdictStatus status) noexcept { return name_of(kVerdicts, status); }
const char* to_string(Reason reason) noexcept { return name_of(kReasons, reason); }
const char* to_string(DisputeState state) noexcept { return name_of(kDisputeStates, state); }
const char* to_string(CommitteeState state) noexcept { return name_of(kCommitteeStates, state); }
const char* event_name(const HistoryEvent& event) noexcept { return kEvents[event.index()]; }

const char* to_string(TxError error) noexcept {
    switch (error) {
        case TxError::kUndecodable:
            return "undecodable";
        case TxError::kTooLarge:
            return "too_large";
        case TxError::kWrongChain:
            return "wrong_chain";
        case TxError::kBadSignature:
            return "bad_signature";
        case TxError::kNonceTooLow:
            return "nonce_too_low";
        case TxError::kNonceTooHigh:
            return "nonce_too_high";
        case TxError::kFeeTooLow:
            return "fee_too_low";
        case TxError::kCannotPayFee:
            return "cannot_pay_fee";
        case TxError::kInvariantBroken:
            return "invariant_broken";
        case TxError::kFieldOutOfRange:
            return "field_out_of_range";
        case TxError::kInsufficientBalance:
            return "insufficient_balance";
        case TxError::kOverflow:
            return "overflow";
        case TxError::kInsufficientStake:
            return "insufficient_stake";
        case TxError::kTooManyUnbondings:
            return "too_many_unbondings";
        case TxError::kAlreadyRegistered:
            return "already_registered";
        case TxError::kTooManyValidators:
            return "too_many_validators";
        case TxError::kNotRegistered:
            return "not_registered";
        case TxError::kNotJailed:
            return "not_jailed";
        case TxError::kStillJailed:
            return "still_jailed";
        case TxError::kKeyNotProven:
            return "key_not_proven";
        case TxError::kClassUnknown:
            return "class_unknown";
        case TxError::kScoreTooLow:
            return "score_too_low";
        case TxError::kPriceTooHigh:
            return "price_too_high";
        case TxError::kTaskUnknown:
            return "task_unknown";
        case TxError::kTaskState:
            return "task_state";
        case TxError::kNotSubmitter:
            return "not_submitter";
        case TxError::kNotSolver:
            return "not_solver";
        case TxError::kCheckpointOrder:
            return "checkpoint_order";
        case TxError::kCheckpointsMissing:
            return "checkpoints_missing";
        case TxError::kSpecInvalid:
            return "spec_invalid";
        case TxError::kNoDivergence:
            return "no_divergence";
        case TxError::kParentUnfit:
            return "parent_unfit";
        case TxError::kNotParentsState:
            return "not_parents_state";
        case TxError::kEvaluationMismatch:
            return "evaluation_mismatch";
        case TxError::kNotFinalState:
            return "not_final_state";
        case TxError::kValueTooHigh:
            return "value_too_high";
        case TxError::kSegmentTooLong:
            return "segment_too_long";
        case TxError::kTimeTooShort:
            return "time_too_short";
        case TxError::kFeeBelowWork:
            return "fee_below_work";
        case TxError::kNotAssigned:
            return "not_assigned";
        case TxError::kAlreadyCommitted:
            return "already_committed";
        case TxError::kNotCommitted:
            return "not_committed";
        case TxError::kPhase:
            return "phase";
        case TxError::kProbeMismatch:
            return "probe_mismatch";
        case TxError::kNotPublished:
            return "not_published";
        case TxError::kAlreadyDisclosed:
            return "already_disclosed";
        case TxError::kMeasurementMismatch:
            return "measurement_mismatch";
        case TxError::kNotProfiler:
            return "not_profiler";
        case TxError::kDisputeUnknown:
            return "dispute_unknown";
        case TxError::kDisputeOver:
            return "dispute_over";
        case TxError::kNotParty:
            return "not_party";
        case TxError::kWrongRound:
            return "wrong_round";
        case TxError::kIllegalMove:
            return "illegal_move";
        case TxError::kProofInvalid:
            return "proof_invalid";
        case TxError::kSegmentUnknown:
            return "segment_unknown";
        case TxError::kAlreadyDisputed:
            return "already_disputed";
        case TxError::kNotExact:
            return "not_exact";
        case TxError::kPartUnknown:
            return "part_unknown";
        case TxError::kNotMeasured:
            return "not_measured";
        case TxError::kTileInvalid:
            return "tile_invalid";
        case TxError::kNotOnCommittee:
            return "not_on_committee";
        case TxError::kAlreadyAttested:
            return "already_attested";
        case TxError::kAlreadySeated:
            return "already_seated";
        case TxError::kSeatsTaken:
            return "seats_taken";
        case TxError::kNotSeated:
            return "not_seated";
        case TxError::kNotDue:
            return "not_due";
        case TxError::kSecretMismatch:
            return "secret_mismatch";
        case TxError::kContributionDue:
            return "contribution_due";
        case TxError::kNotOwed:
            return "not_owed";
        case TxError::kAnswered:
            return "answered";
        case TxError::kDutiesFull:
            return "duties_full";
    }
    return "unknown";
}

}  // namespace assay::contracts
