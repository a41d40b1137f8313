// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include <contracts/state/dispute.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/verdict.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/state/history.hpp>
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

constexpr std::array<const char*, 15> kTaskStates{"open",      "drawn",      "training",  "completed", "verifying",
                                                  "challenge", "disclosure", "judged",    "settled",   "convicted",
                                                  "cancelled", "expired",    "profiling", "refused",   "kept"};

constexpr std::array<const char*, 9> kVerdicts{"due",    "committed", "accepted",     "rejected", "missed",
                                               "broken", "refuted",   "contradicted", "dropped"};

constexpr std::array<const char*, 32> kReasons{
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
    "unserved",
    "false_statement",
    "demand",
    "retention",
    "not_shown",
    "keys_withheld",
    "wrong_keys",
    "wrong_chunk"};

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
    "attested",
    "cut",
    "accused",
    "member_convicted",
    "reseated",
    "demanded",
    "keeping_begun",
    "show_drawn",
    "result_shown",
    "keeping_ended",
    "keys_shared",
    "keys_refused"};

constexpr std::array<const char*, 2> kModes{"exact", "tolerance"};
constexpr std::array<const char*, 3> kVerdictParts{"probe", "end", "measurement"};
constexpr std::array<const char*, 5> kProfileParts{
    "start", "replayed", "measurement", "reference", "reference_measurement"};
constexpr std::array<const char*, 5> kPhases{"draw", "commit", "publish", "challenge", "over"};
constexpr std::array<const char*, 5> kProfiles{"due", "committed", "standing", "missed", "refuted"};
constexpr std::array<const char*, 3> kOutcomes{"bounded", "too_few", "not_separated"};

struct ErrorName {
    TxError error;
    const char* text;
};
constexpr std::array kErrors{
    ErrorName{TxError::kUndecodable, "undecodable"},
    ErrorName{TxError::kTooLarge, "too_large"},
    ErrorName{TxError::kWrongChain, "wrong_chain"},
    ErrorName{TxError::kBadSignature, "bad_signature"},
    ErrorName{TxError::kNonceTooLow, "nonce_too_low"},
    ErrorName{TxError::kNonceTooHigh, "nonce_too_high"},
    ErrorName{TxError::kFeeTooLow, "fee_too_low"},
    ErrorName{TxError::kCannotPayFee, "cannot_pay_fee"},
    ErrorName{TxError::kInvariantBroken, "invariant_broken"},
    ErrorName{TxError::kFieldOutOfRange, "field_out_of_range"},
    ErrorName{TxError::kNotOperator, "not_operator"},
    ErrorName{TxError::kOwnerOnly, "owner_only"},
    ErrorName{TxError::kInsufficientBalance, "insufficient_balance"},
    ErrorName{TxError::kOverflow, "overflow"},
    ErrorName{TxError::kInsufficientStake, "insufficient_stake"},
    ErrorName{TxError::kTooManyUnbondings, "too_many_unbondings"},
    ErrorName{TxError::kAlreadyRegistered, "already_registered"},
    ErrorName{TxError::kTooManyValidators, "too_many_validators"},
    ErrorName{TxError::kNotRegistered, "not_registered"},
    ErrorName{TxError::kNotJailed, "not_jailed"},
    ErrorName{TxError::kStillJailed, "still_jailed"},
    ErrorName{TxError::kKeyNotProven, "key_not_proven"},
    ErrorName{TxError::kClassUnknown, "class_unknown"},
    ErrorName{TxError::kScoreTooLow, "score_too_low"},
    ErrorName{TxError::kPriceTooHigh, "price_too_high"},
    ErrorName{TxError::kTaskUnknown, "task_unknown"},
    ErrorName{TxError::kTaskState, "task_state"},
    ErrorName{TxError::kNotSubmitter, "not_submitter"},
    ErrorName{TxError::kNotSolver, "not_solver"},
    ErrorName{TxError::kCheckpointOrder, "checkpoint_order"},
    ErrorName{TxError::kCheckpointsMissing, "checkpoints_missing"},
    ErrorName{TxError::kSpecInvalid, "spec_invalid"},
    ErrorName{TxError::kNoDivergence, "no_divergence"},
    ErrorName{TxError::kParentUnfit, "parent_unfit"},
    ErrorName{TxError::kNotParentsState, "not_parents_state"},
    ErrorName{TxError::kEvaluationMismatch, "evaluation_mismatch"},
    ErrorName{TxError::kNotFinalState, "not_final_state"},
    ErrorName{TxError::kValueTooHigh, "value_too_high"},
    ErrorName{TxError::kSegmentTooLong, "segment_too_long"},
    ErrorName{TxError::kTimeTooShort, "time_too_short"},
    ErrorName{TxError::kFeeBelowWork, "fee_below_work"},
    ErrorName{TxError::kSeatsInvalid, "seats_invalid"},
    ErrorName{TxError::kSeatsNotSigned, "seats_not_signed"},
    ErrorName{TxError::kNotNext, "not_next"},
    ErrorName{TxError::kEnvironmentMismatch, "environment_mismatch"},
    ErrorName{TxError::kNotAssigned, "not_assigned"},
    ErrorName{TxError::kAlreadyCommitted, "already_committed"},
    ErrorName{TxError::kNotCommitted, "not_committed"},
    ErrorName{TxError::kPhase, "phase"},
    ErrorName{TxError::kProbeMismatch, "probe_mismatch"},
    ErrorName{TxError::kNotPublished, "not_published"},
    ErrorName{TxError::kAlreadyDisclosed, "already_disclosed"},
    ErrorName{TxError::kMeasurementMismatch, "measurement_mismatch"},
    ErrorName{TxError::kChecksMismatch, "checks_mismatch"},
    ErrorName{TxError::kNotProfiler, "not_profiler"},
    ErrorName{TxError::kDisputeUnknown, "dispute_unknown"},
    ErrorName{TxError::kDisputeOver, "dispute_over"},
    ErrorName{TxError::kNotParty, "not_party"},
    ErrorName{TxError::kWrongRound, "wrong_round"},
    ErrorName{TxError::kIllegalMove, "illegal_move"},
    ErrorName{TxError::kProofInvalid, "proof_invalid"},
    ErrorName{TxError::kSegmentUnknown, "segment_unknown"},
    ErrorName{TxError::kAlreadyDisputed, "already_disputed"},
    ErrorName{TxError::kNotExact, "not_exact"},
    ErrorName{TxError::kPartUnknown, "part_unknown"},
    ErrorName{TxError::kNotMeasured, "not_measured"},
    ErrorName{TxError::kNotTogether, "not_together"},
    ErrorName{TxError::kNotStated, "not_stated"},
    ErrorName{TxError::kNoEvidence, "no_evidence"},
    ErrorName{TxError::kNotAnswerable, "not_answerable"},
    ErrorName{TxError::kTileInvalid, "tile_invalid"},
    ErrorName{TxError::kNotOnCommittee, "not_on_committee"},
    ErrorName{TxError::kAlreadyAttested, "already_attested"},
    ErrorName{TxError::kAlreadySeated, "already_seated"},
    ErrorName{TxError::kSeatsTaken, "seats_taken"},
    ErrorName{TxError::kNotSeated, "not_seated"},
    ErrorName{TxError::kNotDue, "not_due"},
    ErrorName{TxError::kSecretMismatch, "secret_mismatch"},
    ErrorName{TxError::kContributionDue, "contribution_due"},
    ErrorName{TxError::kNotOwed, "not_owed"},
    ErrorName{TxError::kAnswered, "answered"},
    ErrorName{TxError::kDutiesFull, "duties_full"},
    ErrorName{TxError::kNotInSet, "not_in_set"},
    ErrorName{TxError::kChangeInvalid, "change_invalid"},
    ErrorName{TxError::kProposalPassed, "proposal_passed"},
    ErrorName{TxError::kProposalUnknown, "proposal_unknown"},
    ErrorName{TxError::kRetentionUnfit, "retention_unfit"},
    ErrorName{TxError::kNotAsked, "not_asked"},
    ErrorName{TxError::kNotPrivate, "not_private"},
    ErrorName{TxError::kKeysMissing, "keys_missing"},
    ErrorName{TxError::kShareInvalid, "share_invalid"},
    ErrorName{TxError::kSealedMismatch, "sealed_mismatch"},
    ErrorName{TxError::kKeysRight, "keys_right"},
    ErrorName{TxError::kChunkRight, "chunk_right"},
};

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
    for (const ErrorName& name : kErrors) {
        if (name.error == error) {
            return name.text;
        }
    }
    return "unknown";
}

}  // namespace assay::contracts
