// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::contracts {

/// Why a transaction was refused. The numbers are part of the protocol and are never reused.
enum class [[nodiscard]] TxError : std::uint8_t{
    // Envelope (TX rules).
    kUndecodable = 1,       ///< TX-1: not valid Borsh: truncated, trailing bytes or a bad tag
    kTooLarge = 2,          ///< TX-2
    kWrongChain = 3,        ///< TX-3
    kBadSignature = 4,      ///< TX-3
    kNonceTooLow = 5,       ///< TX-5: already used
    kNonceTooHigh = 6,      ///< TX-5: leaves a gap
    kFeeTooLow = 7,         ///< TX-7
    kCannotPayFee = 8,      ///< TX-7
    kInvariantBroken = 9,   ///< INV: the action would break an invariant; means a bug in a contract
    kFieldOutOfRange = 10,  ///< TX-6: a field's value is invalid in every state
    // Operators.
    kNotOperator = 11,  ///< OPR-5: the named owner has not named the sender as its operator
    kOwnerOnly = 12,    ///< OPR-3: only the owner itself may send this action
    // Ledger and stake.
    kInsufficientBalance = 20,  ///< LED-2
    kOverflow = 21,             ///< LED-3
    kInsufficientStake = 22,    ///< STK-2
    kTooManyUnbondings = 23,    ///< STK-4
    kClassUnknown = 24,         ///< HW-1: the table has no such class
    kScoreTooLow = 25,          ///< HW-2
    kPriceTooHigh = 26,         ///< TRM-1: the verifier's price exceeds the maximum
    // Validators.
    kAlreadyRegistered = 120,  ///< VAL-1: the account or the key is already registered
    kTooManyValidators = 121,  ///< VAL-1
    kNotRegistered = 122,      ///< VAL-6
    kNotJailed = 123,          ///< VAL-6: not jailed, or banned permanently
    kStillJailed = 124,        ///< VAL-6
    kKeyNotProven = 125,       ///< VAL-1: the consensus key did not sign that this account may register it
    // Tasks.
    kTaskUnknown = 40,         ///< TASK-3
    kTaskState = 41,           ///< TASK-4: the task's state does not allow the action
    kNotSubmitter = 42,        ///< TASK-5
    kNotSolver = 43,           ///< TASK-5
    kCheckpointOrder = 44,     ///< TASK-7: not the next checkpoint or segment
    kCheckpointsMissing = 45,  ///< TASK-9
    kSpecInvalid = 46,         ///< TASK-2
    kNoDivergence = 47,        ///< TASK-13, VER-17: no proof of divergence, or it does not fit
    kParentUnfit = 48,         ///< LIN-1: the named parent is not allowed
    kNotParentsState = 49,     ///< LIN-2, LIN-6: the start state is not the parent's last checkpoint
    kEvaluationMismatch = 50,  ///< EVL-4: a score is missing, or present where none is allowed
    kNotFinalState = 51,       ///< EVL-4: the tensors' root does not match the last checkpoint's state root
    kValueTooHigh = 52,        ///< TASK-14: the task's value exceeds task_value_max
    kSegmentTooLong =
        53,              ///< WRK-4: a replay on the task's hardware class takes longer than verifiers may be asked for
    kTimeTooShort = 54,  ///< TASK-16: training_blocks is too low for the work, on the task's hardware class
    kFeeBelowWork = 55,  ///< WRK-6: the verification fee does not pay for the work
    // Groups.
    kSeatsInvalid = 56,         ///< GRP-2: the task or the rules do not admit these seats
    kSeatsNotSigned = 57,       ///< GRP-2: a signature of a member is missing or wrong
    kNotNext = 58,              ///< GRP-4: it is another member's turn
    kEnvironmentMismatch = 59,  ///< ENV-4: the task asks for another environment than the solver states
    // Verification.
    kNotAssigned = 60,          ///< VER-1
    kAlreadyCommitted = 61,     ///< VER-3
    kNotCommitted = 62,         ///< VER-4
    kPhase = 64,                ///< VER-3, VER-4, VER-13: too late or too early
    kProbeMismatch = 65,        ///< VER-9: a probe root is missing, or present where none is allowed
    kNotPublished = 66,         ///< VER-13, DSP-41: no published verdict, or one without a probe root
    kAlreadyDisclosed = 67,     ///< VER-13
    kMeasurementMismatch = 68,  ///< VER-17: a measurement is missing, or present where none is allowed
    kChecksMismatch = 69,       ///< CHK-3: a report on the task's checks is missing, or present where none is allowed
    // Profiling.
    kNotProfiler = 70,  ///< PRF-1
    // Arbitration.
    kDisputeUnknown = 80,   ///< DSP-30
    kDisputeOver = 81,      ///< DSP-30
    kNotParty = 82,         ///< DSP-31
    kWrongRound = 83,       ///< DSP-34
    kIllegalMove = 84,      ///< DSP-35: the game refused the move (dispute::MoveError)
    kProofInvalid = 85,     ///< DSP-36: the proof was refused (dispute::ProofError)
    kSegmentUnknown = 86,   ///< DSP-37
    kAlreadyDisputed = 87,  ///< DSP-38: this challenger has already disputed this subject
    kNotExact = 88,         ///< DSP-44: the segment is judged by distance; dispute its verdicts instead
    kPartUnknown = 89,      ///< DSP-45, PRF-5: the disputed part does not exist
    kNotMeasured = 90,      ///< DSP-45: the given roots do not match the measured states
    kNotTogether = 91,      ///< STM-8: not members of a group that computes each step together
    kNotStated = 92,        ///< STM-2: the member did not sign this statement for this chain and task
    kNoEvidence = 93,       ///< STM-4, STM-7: the evidence was refused (dispute::StatementError)
    kNotAnswerable = 94,    ///< STM-9: the dispute is not one that the sender can answer by an accusation now
    // Availability.
    kTileInvalid = 102,      ///< AVL-3: not the tile that was drawn, or not part of the checkpoint
    kNotOnCommittee = 104,   ///< AVL-3
    kAlreadyAttested = 105,  ///< AVL-3
    // The beacon.
    kAlreadySeated = 130,    ///< BCN-1
    kSeatsTaken = 131,       ///< BCN-3
    kNotSeated = 132,        ///< BCN-2, BCN-6
    kNotDue = 133,           ///< BCN-6: the open round, if any, does not wait for this secret
    kSecretMismatch = 134,   ///< BCN-6: does not match the commitment
    kContributionDue = 135,  ///< BCN-2: a round waits for the sender's secret; contribute it first
    // Duties.
    kNotOwed = 140,     ///< DTY-2: the sender has no duty that is due at that height
    kAnswered = 141,    ///< DTY-2: an earlier transaction in the block answered this duty
    kDutiesFull = 142,  ///< DTY-5: the lane of duties has no room for another dispute; retry after others have ended
    // Governance.
    kNotInSet = 150,         ///< GOV-1, GOV-6: the sender is not a validator of the set
    kChangeInvalid = 151,    ///< GOV-2, GOV-3: the chain cannot run with this change, or it changes nothing
    kProposalPassed = 152,   ///< GOV-5: the sender's proposal has passed, and cannot be replaced until it takes effect
    kProposalUnknown = 153,  ///< GOV-6: no such open proposal
    // Retention.
    kRetentionUnfit = 164,  ///< RET-1: the time or the fee is out of range, or a group trains the task
    kNotAsked = 165,        ///< RET-5: no tile of the result is asked for now
    // Private tasks.
    kNotPrivate = 170,      ///< PRV-3: the task is not private
    kKeysMissing = 171,     ///< PRV-3: the submitter has not shared the task's keys with the solver yet
    kShareInvalid = 172,    ///< PRV-3: not a share that is awaited, or not one that anybody could open
    kSealedMismatch = 173,  ///< PRV-6: a sealed file is missing, or present where the task is not private
    kKeysRight = 174,       ///< PRV-5: the report does not show that the shared keys are wrong
    kChunkRight = 175,      ///< PRV-7: the report does not show that the chunk is wrong
};
const char* to_string(TxError error) noexcept;

}  // namespace assay::contracts
