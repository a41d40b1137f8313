// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::contracts {

/// Why a transaction was refused. Numbers are part of the protocol and never reused.
enum class [[nodiscard]] TxError : std::uint8_t {
    // Envelope (TX rules).
    kUndecodable = 1,      ///< TX-1: not Borsh: truncated, trailing bytes, bad tag
    kTooLarge = 2,         ///< TX-2
    kWrongChain = 3,       ///< TX-3
    kBadSignature = 4,     ///< TX-3
    kNonceTooLow = 5,      ///< TX-5: already used
    kNonceTooHigh = 6,     ///< TX-5: a gap
    kFeeTooLow = 7,        ///< TX-7
    kCannotPayFee = 8,     ///< TX-7
    kInvariantBroken = 9,  ///< INV: a contract would have broken an invariant; a bug of ours, vetoed
    kFieldOutOfRange = 10, ///< TX-6: a field that no state could make valid
    // Ledger and stake.
    kInsufficientBalance = 20,  ///< LED-2
    kOverflow = 21,             ///< LED-3
    kInsufficientStake = 22,    ///< STK-2
    kTooManyUnbondings = 23,    ///< STK-4
    kClassUnknown = 24,         ///< HW-1: the table has no such class
    kScoreTooLow = 25,          ///< HW-2
    kPriceTooHigh = 26,         ///< TRM-1: a verifier asks for more than a submitter must be able to offer
    // Validators.
    kAlreadyRegistered = 120,  ///< VAL-1: the account, or the key
    kTooManyValidators = 121,  ///< VAL-1
    kNotRegistered = 122,      ///< VAL-6
    kNotJailed = 123,          ///< VAL-6: or banned for good
    kStillJailed = 124,        ///< VAL-6
    kKeyNotProven = 125,       ///< VAL-1: the consensus key has not signed that the account may register it
    // Tasks.
    kTaskUnknown = 40,       ///< TASK-3
    kTaskState = 41,         ///< TASK-4: not in a state that allows this
    kNotSubmitter = 42,      ///< TASK-5
    kNotSolver = 43,         ///< TASK-5
    kCheckpointOrder = 44,   ///< TASK-7: not the next index
    kCheckpointsMissing = 45,///< TASK-9
    kSpecInvalid = 46,       ///< TASK-2
    kNoDivergence = 47,      ///< TASK-13, VER-17
    kParentUnfit = 48,       ///< LIN-1: the task cannot start from that one
    kNotParentsState = 49,   ///< LIN-2, LIN-6: the start is not the parent's last checkpoint
    kEvaluationMismatch = 50,///< EVL-4: a score where none belongs, or none where one does
    kNotFinalState = 51,     ///< EVL-4: the root does not lead to the last checkpoint's state root
    kValueTooHigh = 52,      ///< TASK-14: worth more than the chain's draws protect
    kSegmentTooLong = 53,    ///< WRK-4: takes a machine of the class longer than a verifier may be asked for
    kTimeTooShort = 54,      ///< TASK-16: no machine of the class can be expected to train it in time
    kFeeBelowWork = 55,      ///< WRK-6: the verification fee is less than the work costs
    // Verification.
    kNotAssigned = 60,         ///< VER-1
    kAlreadyCommitted = 61,    ///< VER-3
    kNotCommitted = 62,        ///< VER-4
    kPhase = 64,               ///< VER-3, VER-4, VER-13: too late, or too early
    kProbeMismatch = 65,       ///< VER-9: a probe root where none belongs, or none where one does
    kNotPublished = 66,        ///< VER-13, DSP-41: no verdict, or none with a probe root
    kAlreadyDisclosed = 67,    ///< VER-13
    kMeasurementMismatch = 68, ///< VER-17: a measurement where none belongs, or none where one does
    // Profiling.
    kNotProfiler = 70,         ///< PRF-1
    // Arbitration.
    kDisputeUnknown = 80,    ///< DSP-30
    kDisputeOver = 81,       ///< DSP-30
    kNotParty = 82,          ///< DSP-31
    kWrongRound = 83,        ///< DSP-34
    kIllegalMove = 84,       ///< DSP-35: the narrowing refused it (dispute::MoveError)
    kProofInvalid = 85,      ///< DSP-36: the referee could not use it (dispute::ProofError)
    kSegmentUnknown = 86,    ///< DSP-37
    kAlreadyDisputed = 87,   ///< DSP-38: this challenger already disputes this segment
    kNotExact = 88,          ///< DSP-44: the segment is judged by distance; its verdicts are disputed instead
    kPartUnknown = 89,       ///< DSP-45, PRF-5: there is no such part to dispute
    kNotMeasured = 90,       ///< DSP-45: the roots do not lead to the states that were measured
    // Availability.
    kTileInvalid = 102,       ///< AVL-3: not the tile that was drawn, or not of the checkpoint
    kNotOnCommittee = 104,    ///< AVL-3
    kAlreadyAttested = 105,   ///< AVL-3
    // The beacon.
    kAlreadySeated = 130,     ///< BCN-1
    kSeatsTaken = 131,        ///< BCN-3
    kNotSeated = 132,         ///< BCN-2, BCN-6
    kNotDue = 133,            ///< BCN-6: no round waits for this secret
    kSecretMismatch = 134,    ///< BCN-6: not what was committed to
    kContributionDue = 135,   ///< BCN-2: a round waits for the secret; contribute first
    // Duties.
    kNotOwed = 140,      ///< DTY-2: no duty of the sender's is due at that height
    kAnswered = 141,     ///< DTY-2: the block has an earlier answer to this duty
    kDutiesFull = 142,   ///< DTY-5: the lane of duties has no room for another dispute; it has when others have ended
};
const char* to_string(TxError error) noexcept;

}  // namespace assay::contracts
