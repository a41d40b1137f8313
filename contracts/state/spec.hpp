// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/environment.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/privacy.hpp>
#include <contracts/state/result_check.hpp>
#include <core/dispute/bisection.hpp>

/// What a submitter asks for (TASK-2).
namespace assay::contracts {

/// How a task's segments are judged: by equality with the canonical replay, or by the distance from it.
enum class Mode : std::uint8_t { kExact = 1, kTolerance = 2 };
constexpr bool is_valid(Mode m) { return m == Mode::kExact || m == Mode::kTolerance; }
const char* to_string(Mode mode) noexcept;

/// Commitment to the initialisation graph of the program that measures the distance between two states (TOL-1).
struct DistanceCommitment {
    Hash256 root;  ///< Merkle root of node_hash over that graph
    std::uint32_t nodes = 0;
    std::uint64_t work = 0;     ///< WRK-2
    std::uint64_t outputs = 0;  ///< WRK-2
    bool operator==(const DistanceCommitment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &DistanceCommitment::root, &DistanceCommitment::nodes, &DistanceCommitment::work,
            &DistanceCommitment::outputs>{};
    }
};

/// How a task's final state is scored on hold-out data (EVL-1).
struct EvaluationCommitment {
    Hash256 graph_root;         ///< Merkle root of node_hash over the evaluation graph
    std::uint32_t nodes = 0;    ///< of that graph
    Hash256 holdout;            ///< commitment (TRC-2) of the hold-out set, an i32 tensor [rows, width]
    ArtifactRef data;           ///< safetensors with that tensor as "rows"
    std::uint64_t work = 0;     ///< WRK-2: of that graph
    std::uint64_t outputs = 0;  ///< WRK-2: of that graph
    bool operator==(const EvaluationCommitment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &EvaluationCommitment::graph_root, &EvaluationCommitment::nodes, &EvaluationCommitment::holdout,
            &EvaluationCommitment::data, &EvaluationCommitment::work, &EvaluationCommitment::outputs>{};
    }
};

/// The solver's claim about its final state (EVL-4).
struct Evaluation {
    Hash256 tensors_root;     ///< Merkle root of the tensor commitments of the last checkpoint
    std::uint32_t score = 0;  ///< bits of an f32: the mean loss on the hold-out set
    bool operator==(const Evaluation&) const = default;
    static constexpr auto fields() { return Fields<&Evaluation::tensors_root, &Evaluation::score>{}; }
};

/// RET-1: for how long the solver keeps a task's result after settlement, and what the submitter pays for it.
struct Retention {
    std::uint32_t blocks = 0;
    Amount fee;  ///< besides reward and verification fee; what is not earned goes back to the submitter
    bool operator==(const Retention&) const = default;
    static constexpr auto fields() { return Fields<&Retention::blocks, &Retention::fee>{}; }
};

/// A task as its submitter specifies it. Segment 0 is the initialisation; each segment i > 0 covers
/// `checkpoint_interval` steps, the last one the remaining steps.
struct TaskSpec {
    std::string title;  ///< printable ASCII, at most 64 bytes
    dispute::ProgramCommitment program;
    ArtifactRef program_artifact;  ///< Borsh(program::Program)
    Hash256 dataset_root;
    ArtifactRef dataset_artifact;  ///< the dataset's bytes (ART-8)
    /// TASK-20: SHA-256 of the tokenizer.json that made the dataset of a text. No rule reads it.
    std::optional<Hash256> tokenizer;
    /// Safetensors with the program's initial tensors by name. Present if and only if the program has initial tensors
    /// and the task has no parent.
    std::optional<ArtifactRef> initial_artifact;
    std::uint64_t seed = 0;
    std::uint64_t steps = 0;
    std::uint32_t checkpoint_interval = 0;
    Amount reward;                      ///< to the solver, or shared by its group (GRP-8)
    Amount verification_fee;            ///< shared by the verifiers that earned it (SET-6)
    std::uint32_t training_blocks = 0;  ///< TASK-8: the solver must complete within this many blocks after accepting
    /// LIN-1: training starts from that task's last checkpoint instead of an initialisation.
    std::optional<TaskId> parent;
    std::uint32_t hardware_class = 0;  ///< HW-3: required of the solver; 0: any
    Mode mode = Mode::kExact;
    std::optional<DistanceCommitment> distance;  ///< present if and only if the mode is kTolerance
    std::optional<EvaluationCommitment> evaluation;
    std::uint8_t members = 1;  ///< GRP-1: maximum number of seats of the group that trains it; 1: a solver alone
    std::optional<Environment> environment;  ///< ENV-2: in which the solver says that it trains; absent: any
    std::vector<ResultCheck> checks;         ///< CHK-1: on which verdicts report
    std::optional<Retention> retention;
    std::optional<Privacy> privacy;  ///< PRV-1: present if only those who are drawn can read the task
    bool operator==(const TaskSpec&) const = default;
    static constexpr auto fields() {
        return Fields<
            &TaskSpec::title, &TaskSpec::program, &TaskSpec::program_artifact, &TaskSpec::dataset_root,
            &TaskSpec::dataset_artifact, &TaskSpec::tokenizer, &TaskSpec::initial_artifact, &TaskSpec::seed,
            &TaskSpec::steps, &TaskSpec::checkpoint_interval, &TaskSpec::reward, &TaskSpec::verification_fee,
            &TaskSpec::training_blocks, &TaskSpec::parent, &TaskSpec::hardware_class, &TaskSpec::mode,
            &TaskSpec::distance, &TaskSpec::evaluation, &TaskSpec::members, &TaskSpec::environment, &TaskSpec::checks,
            &TaskSpec::retention, &TaskSpec::privacy>{};
    }
};
inline constexpr std::uint32_t kMaxSegments = 1'024;

/// TASK-2: "assay/task" over sender and nonce (u64).
TaskId task_id(const AccountId& sender, std::uint64_t nonce) noexcept;

}  // namespace assay::contracts
