// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/state/validator.hpp>
#include <core/dispute/narrowing.hpp>
#include <core/dispute/opening.hpp>
#include <core/dispute/referee.hpp>
#include <core/dispute/tolerance.hpp>

/// Transactions: Borsh bytes, signed with BIP-340 over a tagged hash that includes the chain id (TX rules).
namespace assay::contracts {

using TaskId = FixedBytes<struct TaskIdTag, 32>;
using DisputeId = FixedBytes<struct DisputeIdTag, 32>;

enum class Role : std::uint8_t { kSolver = 1, kVerifier = 2, kWhistleblower = 3, kValidator = 4 };
constexpr bool is_valid(Role r) { return r >= Role::kSolver && r <= Role::kValidator; }
const char* to_string(Role role) noexcept;

/// Where an artifact can be downloaded: its SHA-256 and one URL ("http://127.0.0.1:4000"; GET <url>/artifact/<hex>).
struct ArtifactRef {
    Hash256 sha256;
    std::uint64_t size_bytes = 0;
    std::string location;
    bool operator==(const ArtifactRef&) const = default;
    static constexpr auto fields() {
        return Fields<&ArtifactRef::sha256, &ArtifactRef::size_bytes, &ArtifactRef::location>{};
    }
};
inline constexpr std::size_t kMaxLocationBytes = 256;

/// How a task's segments are judged: by equality with the canonical replay, or by the distance from it.
enum class Mode : std::uint8_t { kExact = 1, kTolerance = 2 };
constexpr bool is_valid(Mode m) { return m == Mode::kExact || m == Mode::kTolerance; }
const char* to_string(Mode mode) noexcept;

/// Commitment to the initialisation graph of the program that measures the distance between two states (TOL-1).
struct DistanceCommitment {
    Hash256 root;  ///< Merkle root of node_hash over that graph
    std::uint32_t nodes = 0;
    std::uint64_t work = 0;  ///< WRK-2
    bool operator==(const DistanceCommitment&) const = default;
    static constexpr auto fields() {
        return Fields<&DistanceCommitment::root, &DistanceCommitment::nodes, &DistanceCommitment::work>{};
    }
};

/// How a task's final state is scored on hold-out data (EVL-1).
struct EvaluationCommitment {
    Hash256 graph_root;       ///< Merkle root of node_hash over the evaluation graph
    std::uint32_t nodes = 0;  ///< of that graph
    Hash256 holdout;          ///< commitment (TRC-2) of the hold-out set, an i32 tensor [rows, width]
    ArtifactRef data;         ///< safetensors with that tensor as "rows"
    std::uint64_t work = 0;   ///< WRK-2: of that graph
    bool operator==(const EvaluationCommitment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &EvaluationCommitment::graph_root, &EvaluationCommitment::nodes, &EvaluationCommitment::holdout,
            &EvaluationCommitment::data, &EvaluationCommitment::work>{};
    }
};

/// The solver's claim about its final state (EVL-4).
struct Evaluation {
    Hash256 tensors_root;     ///< Merkle root of the tensor commitments of the last checkpoint
    std::uint32_t score = 0;  ///< bits of an f32: the mean loss on the hold-out set
    bool operator==(const Evaluation&) const = default;
    static constexpr auto fields() { return Fields<&Evaluation::tensors_root, &Evaluation::score>{}; }
};

/// A task as its submitter specifies it. Segment 0 is the initialisation; each segment i > 0 covers
/// `checkpoint_interval` steps, the last one the remaining steps.
struct TaskSpec {
    std::string title;  ///< printable ASCII, at most 64 bytes
    dispute::ProgramCommitment program;
    ArtifactRef program_artifact;  ///< Borsh(program::Program)
    Hash256 dataset_root;
    ArtifactRef dataset_artifact;  ///< safetensors with one i32 tensor "rows" [rows, width]
    /// Safetensors with the program's initial tensors by name. Present if and only if the program has initial tensors
    /// and the task has no parent.
    std::optional<ArtifactRef> initial_artifact;
    std::uint64_t seed = 0;
    std::uint64_t steps = 0;
    std::uint32_t checkpoint_interval = 0;
    Amount reward;                      ///< to the solver
    Amount verification_fee;            ///< shared by the verifiers that earned it (SET-6)
    std::uint32_t training_blocks = 0;  ///< TASK-8: the solver must complete within this many blocks after accepting
    /// LIN-1: training starts from that task's last checkpoint instead of an initialisation.
    std::optional<TaskId> parent;
    std::uint32_t hardware_class = 0;  ///< HW-3: required of the solver; 0: any
    Mode mode = Mode::kExact;
    std::optional<DistanceCommitment> distance;  ///< present if and only if the mode is kTolerance
    std::optional<EvaluationCommitment> evaluation;
    bool operator==(const TaskSpec&) const = default;
    static constexpr auto fields() {
        return Fields<
            &TaskSpec::title, &TaskSpec::program, &TaskSpec::program_artifact, &TaskSpec::dataset_root,
            &TaskSpec::dataset_artifact, &TaskSpec::initial_artifact, &TaskSpec::seed, &TaskSpec::steps,
            &TaskSpec::checkpoint_interval, &TaskSpec::reward, &TaskSpec::verification_fee, &TaskSpec::training_blocks,
            &TaskSpec::parent, &TaskSpec::hardware_class, &TaskSpec::mode, &TaskSpec::distance,
            &TaskSpec::evaluation>{};
    }
};
inline constexpr std::uint32_t kMaxSegments = 1'024;

// Actions, one struct each. The comment names the contract that executes the action.
struct Transfer {  // ledger
    AccountId to;
    Amount amount;
    static constexpr auto fields() { return Fields<&Transfer::to, &Transfer::amount>{}; }
};
struct Bond {  // stake
    Role role = Role::kSolver;
    Amount amount;
    static constexpr auto fields() { return Fields<&Bond::role, &Bond::amount>{}; }
};
struct Unbond {  // stake
    Role role = Role::kSolver;
    Amount amount;
    static constexpr auto fields() { return Fields<&Unbond::role, &Unbond::amount>{}; }
};
struct SubmitTask {  // tasks; the task's id is task_id(sender, nonce)
    TaskSpec spec;
    static constexpr auto fields() { return Fields<&SubmitTask::spec>{}; }
};
struct AcceptTask {
    TaskId task;
    static constexpr auto fields() { return Fields<&AcceptTask::task>{}; }
};
struct DeclineTask {  // tasks; a drawn solver refuses the task
    TaskId task;
    static constexpr auto fields() { return Fields<&DeclineTask::task>{}; }
};
struct PostCheckpoint {  // checkpoint i is the state after segment i; posted in order, starting at 0
    TaskId task;
    std::uint32_t index = 0;
    Hash256 state_root;
    ArtifactRef artifact;  ///< safetensors of the state
    static constexpr auto fields() {
        return Fields<
            &PostCheckpoint::task, &PostCheckpoint::index, &PostCheckpoint::state_root, &PostCheckpoint::artifact>{};
    }
};
struct CompleteTask {
    TaskId task;
    std::optional<Evaluation> evaluation = std::nullopt;  ///< present if and only if the spec asks for an evaluation
    static constexpr auto fields() { return Fields<&CompleteTask::task, &CompleteTask::evaluation>{}; }
};
struct CancelTask {  // by the submitter, before a solver has accepted
    TaskId task;
    static constexpr auto fields() { return Fields<&CancelTask::task>{}; }
};
struct CommitVerdict {  // verification
    TaskId task;
    std::uint32_t segment = 0;
    Hash256 commitment;  ///< verdict_commitment(...)
    static constexpr auto fields() {
        return Fields<&CommitVerdict::task, &CommitVerdict::segment, &CommitVerdict::commitment>{};
    }
};
/// A verifier's result for a segment that it replayed.
struct Verdict {
    Hash256 end_root;  ///< the state root after the segment
    /// The state root at the assignment's probe (VER-9). Absent if the assignment has no probe, or if the verdict
    /// rejects the segment without a measurement.
    std::optional<Hash256> probe_root;
    /// For a segment that is judged by distance (VER-17): either the distance between the solver's checkpoint and
    /// end_root, or the number of steps after which the canonical replay diverged.
    std::optional<dispute::Measurement> measurement = std::nullopt;
    std::optional<std::uint32_t> diverged_after = std::nullopt;
    bool operator==(const Verdict&) const = default;
    static constexpr auto fields() {
        return Fields<&Verdict::end_root, &Verdict::probe_root, &Verdict::measurement, &Verdict::diverged_after>{};
    }
};
struct PublishVerdict {  // if the end root differs from the solver's, a dispute is opened in the same transaction
                         // (VER-6)
    TaskId task;
    std::uint32_t segment = 0;
    Verdict verdict;  ///< the true one; in a forced error (VER-11) the decoy root replaces the probe root
    /// VER-17: present if and only if `diverged_after` is set: a tile of the end root's state that contains a
    /// non-finite value.
    std::optional<dispute::StateOpening> divergence = std::nullopt;
    static constexpr auto fields() {
        return Fields<
            &PublishVerdict::task, &PublishVerdict::segment, &PublishVerdict::verdict, &PublishVerdict::divergence>{};
    }
};
struct OpenDispute {  // arbitration; needs free verifier or whistleblower stake, or a reserve in the task (DSP-46)
    TaskId task;
    std::uint32_t segment = 0;
    Role role = Role::kWhistleblower;  ///< role whose stake is locked as the challenger's bond
    static constexpr auto fields() { return Fields<&OpenDispute::task, &OpenDispute::segment, &OpenDispute::role>{}; }
};
struct RevealMove {
    DisputeId dispute;
    std::uint32_t round = 0;  ///< must equal position.rounds; a move for another round is refused
    std::vector<Hash256> children;
    static constexpr auto fields() { return Fields<&RevealMove::dispute, &RevealMove::round, &RevealMove::children>{}; }
};
struct SelectMove {
    DisputeId dispute;
    std::uint32_t round = 0;
    dispute::Selection selection;
    static constexpr auto fields() {
        return Fields<&SelectMove::dispute, &SelectMove::round, &SelectMove::selection>{};
    }
};
struct ProveMove {
    DisputeId dispute;
    dispute::Proof proof;
    static constexpr auto fields() { return Fields<&ProveMove::dispute, &ProveMove::proof>{}; }
};
/// Availability: states that the sender has all data needed to replay the committee's segments and will replay them if
/// drawn.
struct AttestAvailability {
    TaskId task;
    dispute::StateOpening opening;  ///< AVL-3: the tile that was drawn for the sender
    static constexpr auto fields() { return Fields<&AttestAvailability::task, &AttestAvailability::opening>{}; }
};

struct DeclareDivergence {  // tasks; by the solver: a step of the next segment diverged (NUM-6), which ends training
    TaskId task;
    std::uint64_t step = 0;         ///< global step number; 0 for the initialisation
    Hash256 state_root;             ///< state root after that step
    ArtifactRef artifact;           ///< safetensors of that state
    dispute::StateOpening opening;  ///< a tile of that state that contains a non-finite value
    static constexpr auto fields() {
        return Fields<
            &DeclareDivergence::task, &DeclareDivergence::step, &DeclareDivergence::state_root,
            &DeclareDivergence::artifact, &DeclareDivergence::opening>{};
    }
};

/// The preimage of a verdict's commitment (VER-2).
struct VerdictOpening {
    Verdict verdict;  ///< the true one, without a probe root: the probe is not known yet when this is committed
    std::vector<Hash256>
        marks;           ///< VER-9: the state roots at the assignment's marks; empty for a verdict without a probe
    Hash256 decoy_root;  ///< random; published instead of the probe root if the verdict is a forced error
    Hash256 salt;
    bool operator==(const VerdictOpening&) const = default;
    static constexpr auto fields() {
        return Fields<
            &VerdictOpening::verdict, &VerdictOpening::marks, &VerdictOpening::decoy_root, &VerdictOpening::salt>{};
    }
};
struct DiscloseVerdict {  // verification; after the challenge window, or earlier if the verdict is challenged (DSP-42)
    TaskId task;
    std::uint32_t segment = 0;
    VerdictOpening opening;
    static constexpr auto fields() {
        return Fields<&DiscloseVerdict::task, &DiscloseVerdict::segment, &DiscloseVerdict::opening>{};
    }
};
/// The part of a verdict that is disputed.
enum class VerdictPart : std::uint8_t { kProbe = 1, kEnd = 2, kMeasurement = 3 };
constexpr bool is_valid(VerdictPart p) { return p >= VerdictPart::kProbe && p <= VerdictPart::kMeasurement; }
const char* to_string(VerdictPart part) noexcept;
/// Merkle roots of the tensor commitments of the three states that a measurement compares (TOL-1).
using MeasuredRoots = std::array<Hash256, 3>;

struct ChallengeVerdict {  // arbitration; states that `part` of the verdict that `verifier` published is wrong
    TaskId task;
    std::uint32_t segment = 0;
    AccountId verifier;
    Role role = Role::kWhistleblower;  ///< role whose stake is locked as the challenger's bond
    VerdictPart part = VerdictPart::kProbe;
    std::optional<MeasuredRoots> roots = std::nullopt;  ///< present if and only if the part is kMeasurement
    /// challenge_seal(...) of the probe root that the challenger computed; without the right one it wins no jackpot
    /// (VER-16).
    Hash256 seal = {};
    static constexpr auto fields() {
        return Fields<
            &ChallengeVerdict::task, &ChallengeVerdict::segment, &ChallengeVerdict::verifier, &ChallengeVerdict::role,
            &ChallengeVerdict::part, &ChallengeVerdict::roots, &ChallengeVerdict::seal>{};
    }
};

/// A profiler's results for one segment: trained natively, and replayed canonically from the native state before it.
struct ProfileSegment {
    Hash256 native_root;
    ArtifactRef native;  ///< safetensors of the native state
    Hash256 replayed_root;
    dispute::Measurement measurement;  ///< distance of the native state from the replayed one
    bool operator==(const ProfileSegment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ProfileSegment::native_root, &ProfileSegment::native, &ProfileSegment::replayed_root,
            &ProfileSegment::measurement>{};
    }
};
/// A profiler's measurements, made before the task is solved (PRF-3).
struct ProfileReport {
    Hash256 start_root;  ///< state root before the first training step
    std::vector<ProfileSegment> segments;
    Hash256 reference_root;          ///< state root after segment 1, replayed canonically with another seed
    dispute::Measurement reference;  ///< distance of that state from the one replayed with the task's seed
    bool operator==(const ProfileReport&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ProfileReport::start_root, &ProfileReport::segments, &ProfileReport::reference_root,
            &ProfileReport::reference>{};
    }
};
inline constexpr std::uint32_t kMaxProfileSegments = 8;

struct CommitProfile {  // profiling
    TaskId task;
    Hash256 commitment;  ///< profile_commitment(...)
    static constexpr auto fields() { return Fields<&CommitProfile::task, &CommitProfile::commitment>{}; }
};
struct PublishProfile {
    TaskId task;
    ProfileReport report;
    Hash256 salt;
    static constexpr auto fields() {
        return Fields<&PublishProfile::task, &PublishProfile::report, &PublishProfile::salt>{};
    }
};
/// The part of a profile that is disputed.
enum class ProfilePart : std::uint8_t {
    kStart = 1,
    kReplayed = 2,     ///< per segment
    kMeasurement = 3,  ///< per segment
    kReference = 4,
    kReferenceMeasurement = 5,
};
constexpr bool is_valid(ProfilePart p) { return p >= ProfilePart::kStart && p <= ProfilePart::kReferenceMeasurement; }
constexpr bool is_of_segment(ProfilePart p) { return p == ProfilePart::kReplayed || p == ProfilePart::kMeasurement; }
constexpr bool is_measured(ProfilePart p) {
    return p == ProfilePart::kMeasurement || p == ProfilePart::kReferenceMeasurement;
}
const char* to_string(ProfilePart part) noexcept;

struct ChallengeProfile {  // profiling; states that `part` of the report that `profiler` published is wrong
    TaskId task;
    AccountId profiler;
    Role role = Role::kWhistleblower;  ///< role whose stake is locked as the challenger's bond
    ProfilePart part = ProfilePart::kStart;
    std::uint32_t segment = 0;           ///< from 1; 0 if the part does not belong to a segment
    std::optional<MeasuredRoots> roots;  ///< present if and only if the part is a measurement
    static constexpr auto fields() {
        return Fields<
            &ChallengeProfile::task, &ChallengeProfile::profiler, &ChallengeProfile::role, &ChallengeProfile::part,
            &ChallengeProfile::segment, &ChallengeProfile::roots>{};
    }
};

struct RegisterValidator {  // validators; the sender's validator stake gives this key its voting power
    ConsensusKey key;
    ConsensusSignature proof;  ///< signature by `key` of consensus_key_claim(...)
    static constexpr auto fields() { return Fields<&RegisterValidator::key, &RegisterValidator::proof>{}; }
};
struct Unjail {  // validators; returns to the validator set after being jailed
    static constexpr auto fields() { return Fields<>{}; }
};

/// A staker's hardware, and the limits of the work that it agrees to verify (HW-2, TRM-1). In each field 0 means the
/// default that also applies without a registration.
struct Terms {
    std::uint32_t hardware_class = 0;  ///< 0: no class
    // Verifiers only.
    std::uint64_t price = 0;   ///< lowest accepted price, in grains per 10^9 multiply-adds; 0: the chain's
    std::uint64_t memory = 0;  ///< largest accepted memory need of a program, in bytes; 0: the chain's default
    std::uint32_t replay_blocks =
        0;  ///< longest accepted replay time of a segment on its class; 0: whatever the chain allows
    bool operator==(const Terms&) const = default;
    static constexpr auto fields() {
        return Fields<&Terms::hardware_class, &Terms::price, &Terms::memory, &Terms::replay_blocks>{};
    }
};
/// Stake: registers the sender's terms for a role. The score is self-reported.
struct RegisterTerms {
    Role role = Role::kSolver;
    Terms terms;
    std::uint64_t score = 0;
    static constexpr auto fields() {
        return Fields<&RegisterTerms::role, &RegisterTerms::terms, &RegisterTerms::score>{};
    }
};

struct JoinBeacon {      // beacon; takes a contributor's seat
    Hash256 commitment;  ///< beacon_commitment(...) to the secret for the next round
    static constexpr auto fields() { return Fields<&JoinBeacon::commitment>{}; }
};
struct Contribute {
    Hash256 secret;  ///< the preimage of the seat's current commitment
    Hash256 next;    ///< the commitment to the secret for the following round
    static constexpr auto fields() { return Fields<&Contribute::secret, &Contribute::next>{}; }
};
struct LeaveBeacon {  // by a contributor that owes no secret at the moment; returns its bond
    static constexpr auto fields() { return Fields<>{}; }
};

using Action = std::variant<
    Transfer, Bond, Unbond, SubmitTask, AcceptTask, PostCheckpoint, CompleteTask, CancelTask, CommitVerdict,
    PublishVerdict, OpenDispute, RevealMove, SelectMove, ProveMove, AttestAvailability, DeclareDivergence,
    DiscloseVerdict, ChallengeVerdict, RegisterValidator, Unjail, RegisterTerms, CommitProfile, PublishProfile,
    ChallengeProfile, JoinBeacon, Contribute, LeaveBeacon, DeclineTask>;
/// Name of the action in RPC and CLI, such as "transfer" or "submit_task".
const char* action_name(const Action& action) noexcept;

struct TxBody {
    std::string chain_id;
    AccountId sender;
    /// Number of transactions by the sender that were charged so far; in an answer to a duty, the duty's due height
    /// (DTY-2).
    std::uint64_t nonce = 0;
    Amount fee;
    Action action;
    static constexpr auto fields() {
        return Fields<&TxBody::chain_id, &TxBody::sender, &TxBody::nonce, &TxBody::fee, &TxBody::action>{};
    }
};
struct Tx {
    TxBody body;
    Signature signature;
    static constexpr auto fields() { return Fields<&Tx::body, &Tx::signature>{}; }
};

/// TX-3: the hash that the sender signs: "assay/tx" over Borsh(body).
Hash256 signing_hash(const TxBody& body);
/// TX-4: the transaction's id: SHA-256 of its bytes.
Hash256 tx_hash(ByteView tx_bytes) noexcept;
std::vector<Hash256> tx_hashes(const std::vector<Bytes>& txs);
Tx sign_tx(TxBody body, const crypto::SecretKey& key);

/// TASK-2: "assay/task" over sender and nonce (u64).
TaskId task_id(const AccountId& sender, std::uint64_t nonce) noexcept;
/// VER-2: "assay/verdict" over task, segment (u32), verifier and opening.
Hash256 verdict_commitment(
    const TaskId& task, std::uint32_t segment, const AccountId& verifier, const VerdictOpening& opening
) noexcept;
/// PRF-3: "assay/profile" over task, profiler, report and salt.
Hash256 profile_commitment(
    const TaskId& task, const AccountId& profiler, const ProfileReport& report, const Hash256& salt
) noexcept;
/// BCN-1: "assay/secret" over account and secret.
Hash256 beacon_commitment(const AccountId& account, const Hash256& secret) noexcept;

}  // namespace assay::contracts
