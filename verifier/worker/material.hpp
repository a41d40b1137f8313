// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <core/merkle/tree.hpp>
#include <contracts/state/task.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::worker {

/// What a task is made of, fetched and checked against what the chain says of it.
struct Material {
    contracts::TaskId task;
    contracts::TaskSpec spec;
    program::Program program;
    std::vector<canonical::Tensor> initial{};  ///< what the init graph reads; empty for a program that needs nothing
    std::shared_ptr<const artifacts::Dataset> dataset;
    merkle::Tree rows_tree;
    std::optional<canonical::Tensor> holdout{};  ///< exactly of a task with an evaluation

    /// The first step of segment `segment` > 0, and how many it has.
    std::uint64_t first_step(std::uint32_t segment) const;
    std::uint64_t step_count(std::uint32_t segment) const;
};

/// What is wrong with one of a task's artifacts.
enum class Defect : std::uint8_t {
    kUnreachable = 1,       ///< nobody serves it now
    kTooLarge = 2,
    kProgramFormat = 3,     ///< not a program, or one beyond the limits
    kProgramOther = 4,      ///< not the one that the task commits to
    kInitialMissing = 5,    ///< the program reads initial tensors, and the task names none
    kInitialFormat = 6,     ///< not tensors, or not of the names and types that the program reads
    kInitialOther = 7,
    kDatasetFormat = 8,
    kDatasetShape = 9,      ///< not of the rows and width that the program reads
    kDatasetOther = 10,
    kStateFormat = 11,      ///< not a state, or not of the names and types of the program's
    kStateOther = 12,       ///< not the one whose root was posted
    kHoldoutFormat = 13,    ///< not rows of the width that the program reads
    kHoldoutOther = 14,     ///< not the hold-out set that the task commits to
    kEvaluationOther = 15,  ///< the task commits to another evaluation than its program has
    kPending = 16,          ///< it is being fetched
    kNoRoom = 17,           ///< our disk has no room for it
};
/// "program_other" and so on: what a worker's report calls it.
const char* to_string(Defect defect) noexcept;

/// Why something cannot be had. Never says anything about the solver's honesty.
struct Unavailable {
    bool is_final = false;  ///< trying again cannot help: the bytes are those named, and they are unusable
    std::string reason;
    Defect defect = Defect::kUnreachable;
    std::optional<contracts::ArtifactRef> artifact{};  ///< the one that cannot be had
};

/// Where artifacts come from: fetched when they are asked for, or before.
using ArtifactSource = std::function<Result<Bytes, artifacts::FetchError>(const contracts::ArtifactRef&)>;
/// One that waits for the network.
ArtifactSource waiting_source(const artifacts::ContentStore& store);

/// The artifacts that load_material() reads for the task.
std::vector<contracts::ArtifactRef> artifacts_of(const contracts::TaskSpec& spec);

/// Fetches program, initial tensors (of a task without a parent), dataset and hold-out set, and checks the program's
/// commitment, the roots and the evaluation (EVL-9) against the task's.
Result<std::shared_ptr<const Material>, Unavailable> load_material(
    const contracts::TaskId& task, const contracts::TaskSpec& spec, const ArtifactSource& source
);

/// Fetches a checkpoint's state and checks its root.
Result<std::vector<canonical::Tensor>, Unavailable> load_state(
    const Material& material, const contracts::Checkpoint& checkpoint, const ArtifactSource& source
);

}  // namespace assay::worker
