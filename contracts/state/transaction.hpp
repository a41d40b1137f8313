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

/// What users send to the chain: Borsh bytes, signed with BIP-340 over a tagged hash that binds the chain id
/// (TX rules).
namespace assay::contracts {

using TaskId = FixedBytes<struct TaskIdTag, 32>;
using DisputeId = FixedBytes<struct DisputeIdTag, 32>;

enum class Role : std::uint8_t { kSolver = 1, kVerifier = 2, kWhistleblower = 3, kValidator = 4 };
constexpr bool is_valid(Role r) { return r >= Role::kSolver && r <= Role::kValidator; }
const char* to_string(Role role) noexcept;

/// Where an artifact can be had: its SHA-256 and one URL ("http://127.0.0.1:4000"; GET <url>/artifact/<hex>).
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

/// The initialisation graph of the distance program of a task's state (TOL-1).
struct DistanceCommitment {
    Hash256 root;  ///< Merkle root of node_hash over it
    std::uint32_t nodes = 0;
    std::uint64_t work = 0;  ///< WRK-2
    bool operator==(const DistanceCommitment&) const = default;
    static constexpr auto fields() {
        return Fields<&DistanceCommitment::root, &DistanceCommitment::nodes, &DistanceCommitment::work>{};
    }
};

/// How a task's final state is scored on data that it is not trained on (EVL-1).
struct EvaluationCommitment {
    Hash256 graph_root;       ///< Merkle root of node_hash over the evaluation's graph
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

/// What a solver claims of its final state (EVL-4).
struct Evaluation {
    Hash256 tensors_root;     ///< Merkle root over the commitments of the tensors of the last checkpoint
    std::uint32_t score = 0;  ///< bits of an f32: the mean loss on the hold-out set
    bool operator==(const Evaluation&) const = default;
    static constexpr auto fields() { return Fields<&Evaluation::tensors_root, &Evaluation::score>{}; }
};

/// What a submitter asks for. Segment 0 is the initialisation; segment i > 0 covers `checkpoint_interval` steps.
struct TaskSpec {
    std::string title;  ///< printable ASCII, at most 64 bytes
    dispute::ProgramCommitment program;
    ArtifactRef program_artifact;  ///< Borsh(program::Program)
    Hash256 dataset_root;
    ArtifactRef dataset_artifact;  ///< safetensors with one i32 tensor "rows" [rows, width]
    /// Safetensors with the program's initial tensors by name; exactly when the program has any and there is no parent.
    std::optional<ArtifactRef> initial_artifact;
    std::uint64_t seed = 0;
    std::uint64_t steps = 0;
    std::uint32_t checkpoint_interval = 0;
    Amount reward;            ///< to the solver
    Amount verification_fee;  ///< shared by the verifiers who did their work
    std::uint32_t training_blocks = 0;  ///< TASK-8: the solver completes within this many blocks of accepting
    std::optional<TaskId> parent;       ///< LIN-1: starts from that task's last checkpoint, not from an initialisation
    std::uint32_t hardware_class = 0;   ///< HW-3: of the solver; 0: any
    Mode mode = Mode::kExact;
    std::optional<DistanceCommitment> distance;  ///< exactly in tolerance mode
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

// Actions, one struct each. The comment names the contract that executes it.
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
struct DeclineTask {  // tasks, by a solver that was drawn and will not accept
    TaskId task;
    static constexpr auto fields() { return Fields<&DeclineTask::task>{}; }
};
struct PostCheckpoint {  // checkpoint i is the state after segment i; posted in order from 0
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
    std::optional<Evaluation> evaluation = std::nullopt;  ///< exactly when the spec asks for one
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
/// What a verifier says of a segment that it replayed.
struct Verdict {
    Hash256 end_root;  ///< the state root after the segment
    /// After the assignment's probe (VER-9); none where there is no probe, and none of a segment that is rejected,
    /// unless by a measurement.
    std::optional<Hash256> probe_root;
    /// Of a segment that is judged by distance (VER-17): how far the solver's checkpoint is from end_root, or after how
    /// many steps the canonical replay diverged.
    std::optional<dispute::Measurement> measurement = std::nullopt;
    std::optional<std::uint32_t> diverged_after = std::nullopt;
    bool operator==(const Verdict&) const = default;
    static constexpr auto fields() {
        return Fields<
            &Verdict::end_root, &Verdict::probe_root, &Verdict::measurement, &Verdict::diverged_after>{};
    }
};
struct PublishVerdict {  // an end root other than the solver's opens a dispute in the same transaction (VER-6)
    TaskId task;
    std::uint32_t segment = 0;
    Verdict verdict;  ///< the true one, or with the decoy root in the probe root's place when it is forced (VER-11)
    /// VER-17: exactly with `diverged_after`: a tile of the end root's state with a value that is not finite.
    std::optional<dispute::StateOpening> divergence = std::nullopt;
    static constexpr auto fields() {
        return Fields<
            &PublishVerdict::task, &PublishVerdict::segment, &PublishVerdict::verdict, &PublishVerdict::divergence>{};
    }
};
struct OpenDispute {  // arbitration; anyone with free verifier or whistleblower stake
    TaskId task;
    std::uint32_t segment = 0;
    Role role = Role::kWhistleblower;  ///< whose stake the challenger's bond is locked in
    static constexpr auto fields() {
        return Fields<&OpenDispute::task, &OpenDispute::segment, &OpenDispute::role>{};
    }
};
struct RevealMove {
    DisputeId dispute;
    std::uint32_t round = 0;  ///< position.rounds; a move made for another round is refused
    std::vector<Hash256> children;
    static constexpr auto fields() {
        return Fields<&RevealMove::dispute, &RevealMove::round, &RevealMove::children>{};
    }
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
/// Availability; "I have all that a replay of the committee's segments needs, and will replay them if I am drawn".
struct AttestAvailability {
    TaskId task;
    dispute::StateOpening opening;  ///< AVL-3: the tile that was drawn for the sender
    static constexpr auto fields() { return Fields<&AttestAvailability::task, &AttestAvailability::opening>{}; }
};

struct DeclareDivergence {  // tasks, by the solver: a step of the next segment diverged (NUM-6), and training ends with it
    TaskId task;
    std::uint64_t step = 0;       ///< global number; 0 for the initialisation
    Hash256 state_root;           ///< after that step
    ArtifactRef artifact;         ///< safetensors of that state
    dispute::StateOpening opening;  ///< a tile of it with a value that is not finite
    static constexpr auto fields() {
        return Fields<
            &DeclareDivergence::task, &DeclareDivergence::step, &DeclareDivergence::state_root,
            &DeclareDivergence::artifact, &DeclareDivergence::opening>{};
    }
};

/// What a verdict's commitment commits to (VER-2).
struct VerdictOpening {
    Verdict verdict;     ///< the true one, without a probe root: which mark is the probe nobody knows yet
    std::vector<Hash256> marks;  ///< VER-9: the state roots at the assignment's marks; of a verdict without a probe none
    Hash256 decoy_root;  ///< random; published in the probe root's place when the verdict is forced to be wrong
    Hash256 salt;
    bool operator==(const VerdictOpening&) const = default;
    static constexpr auto fields() {
        return Fields<
            &VerdictOpening::verdict, &VerdictOpening::marks, &VerdictOpening::decoy_root, &VerdictOpening::salt>{};
    }
};
struct DiscloseVerdict {  // verification; after the challenge window, or some time after the verdict is challenged
    TaskId task;
    std::uint32_t segment = 0;
    VerdictOpening opening;
    static constexpr auto fields() {
        return Fields<&DiscloseVerdict::task, &DiscloseVerdict::segment, &DiscloseVerdict::opening>{};
    }
};
/// What of a verdict is disputed.
enum class VerdictPart : std::uint8_t { kProbe = 1, kEnd = 2, kMeasurement = 3 };
constexpr bool is_valid(VerdictPart p) { return p >= VerdictPart::kProbe && p <= VerdictPart::kMeasurement; }
const char* to_string(VerdictPart part) noexcept;
/// The Merkle roots over the tensors' commitments of the three states that a measurement is of (TOL-1).
using MeasuredRoots = std::array<Hash256, 3>;

struct ChallengeVerdict {  // arbitration; "the `part` that `verifier` published is wrong"
    TaskId task;
    std::uint32_t segment = 0;
    AccountId verifier;
    Role role = Role::kWhistleblower;  ///< whose stake the challenger's bond is locked in
    VerdictPart part = VerdictPart::kProbe;
    std::optional<MeasuredRoots> roots = std::nullopt;  ///< exactly with a measurement
    Hash256 seal = {};  ///< challenge_seal(...) of the probe root that we found; any other wins no jackpot (VER-16)
    static constexpr auto fields() {
        return Fields<
            &ChallengeVerdict::task, &ChallengeVerdict::segment, &ChallengeVerdict::verifier, &ChallengeVerdict::role,
            &ChallengeVerdict::part, &ChallengeVerdict::roots, &ChallengeVerdict::seal>{};
    }
};

/// One segment as a profiler ran it: natively, and canonically from the native state before it.
struct ProfileSegment {
    Hash256 native_root;
    ArtifactRef native;  ///< safetensors of the native state
    Hash256 replayed_root;
    dispute::Measurement measurement;  ///< of the native state against the replayed one
    bool operator==(const ProfileSegment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ProfileSegment::native_root, &ProfileSegment::native, &ProfileSegment::replayed_root,
            &ProfileSegment::measurement>{};
    }
};
/// What a profiler measures of a task before it is solved (PRF-3).
struct ProfileReport {
    Hash256 start_root;  ///< the state of step 0
    std::vector<ProfileSegment> segments;
    Hash256 reference_root;         ///< segment 1 replayed canonically under another seed
    dispute::Measurement reference;   ///< of that state against the one under the task's seed
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
/// What of a profile is disputed.
enum class ProfilePart : std::uint8_t {
    kStart = 1,
    kReplayed = 2,              ///< of one segment
    kMeasurement = 3,           ///< of one segment
    kReference = 4,
    kReferenceMeasurement = 5,
};
constexpr bool is_valid(ProfilePart p) { return p >= ProfilePart::kStart && p <= ProfilePart::kReferenceMeasurement; }
constexpr bool is_of_segment(ProfilePart p) { return p == ProfilePart::kReplayed || p == ProfilePart::kMeasurement; }
constexpr bool is_measured(ProfilePart p) {
    return p == ProfilePart::kMeasurement || p == ProfilePart::kReferenceMeasurement;
}
const char* to_string(ProfilePart part) noexcept;

struct ChallengeProfile {  // "the `part` of the report that `profiler` published is wrong"
    TaskId task;
    AccountId profiler;
    Role role = Role::kWhistleblower;  ///< whose stake the challenger's bond is locked in
    ProfilePart part = ProfilePart::kStart;
    std::uint32_t segment = 0;           ///< from 1; 0 where the part is not of a segment
    std::optional<MeasuredRoots> roots;  ///< exactly with a measurement
    static constexpr auto fields() {
        return Fields<
            &ChallengeProfile::task, &ChallengeProfile::profiler, &ChallengeProfile::role, &ChallengeProfile::part,
            &ChallengeProfile::segment, &ChallengeProfile::roots>{};
    }
};

struct RegisterValidator {  // validators; the sender's validator stake is what votes with this key
    ConsensusKey key;
    ConsensusSignature proof;  ///< by `key`, of consensus_key_claim(...)
    static constexpr auto fields() { return Fields<&RegisterValidator::key, &RegisterValidator::proof>{}; }
};
struct Unjail {  // validators; back into the set after a penalty
    static constexpr auto fields() { return Fields<>{}; }
};

/// What a staker has, and what it consents to verify (HW-2, TRM-1). 0 is, of each, what nothing registered means.
struct Terms {
    std::uint32_t hardware_class = 0;  ///< 0: of none
    // A verifier's.
    std::uint64_t price = 0;          ///< the least, in grains for 10^9 multiply-adds; 0: the chain's
    std::uint64_t memory = 0;         ///< the most that a program may take, in bytes; 0: the chain's
    std::uint32_t replay_blocks = 0;  ///< the most that a segment may take on its class; 0: what the chain admits
    bool operator==(const Terms&) const = default;
    static constexpr auto fields() {
        return Fields<&Terms::hardware_class, &Terms::price, &Terms::memory, &Terms::replay_blocks>{};
    }
};
/// Stake: "for this role I have such a machine, and consent to such work"; the score is the sender's own statement.
struct RegisterTerms {
    Role role = Role::kSolver;
    Terms terms;
    std::uint64_t score = 0;
    static constexpr auto fields() {
        return Fields<&RegisterTerms::role, &RegisterTerms::terms, &RegisterTerms::score>{};
    }
};

struct JoinBeacon {  // beacon; a seat among its contributors
    Hash256 commitment;  ///< beacon_commitment(...) to the secret of the next round
    static constexpr auto fields() { return Fields<&JoinBeacon::commitment>{}; }
};
struct Contribute {
    Hash256 secret;  ///< what was committed to
    Hash256 next;    ///< the commitment for the round after this one
    static constexpr auto fields() { return Fields<&Contribute::secret, &Contribute::next>{}; }
};
struct LeaveBeacon {  // by a contributor that owes no secret; its bond comes back
    static constexpr auto fields() { return Fields<>{}; }
};

using Action = std::variant<
    Transfer, Bond, Unbond, SubmitTask, AcceptTask, PostCheckpoint, CompleteTask, CancelTask, CommitVerdict,
    PublishVerdict, OpenDispute, RevealMove, SelectMove, ProveMove, AttestAvailability,
    DeclareDivergence, DiscloseVerdict, ChallengeVerdict, RegisterValidator, Unjail,
    RegisterTerms, CommitProfile, PublishProfile, ChallengeProfile,
    JoinBeacon, Contribute, LeaveBeacon, DeclineTask>;
/// "transfer", "submit_task", ... : the name of the action in RPC and CLI.
const char* action_name(const Action& action) noexcept;

struct TxBody {
    std::string chain_id;
    AccountId sender;
    std::uint64_t nonce = 0;  ///< the sender's number of executed transactions
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

/// TX-3: what the sender signs: "assay/tx" over Borsh(body).
Hash256 signing_hash(const TxBody& body);
/// TX-4: a transaction's name: SHA-256 of its bytes.
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
