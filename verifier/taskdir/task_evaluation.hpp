// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/base/bytes.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_data.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::taskdir {

/// What a task is scored on and how, ready to be put in a store.
struct BuiltEvaluation {
    canonical::Tensor holdout;
    program::Program program;
    Bytes artifact;  ///< of the hold-out set
};

/// Reads the hold-out set of `task`, which has one, and takes a whole number of batches of it, spread evenly over its
/// rows. `data` and `trained` are what the task trains on and trains. nullopt after a finding.
std::optional<BuiltEvaluation> build_evaluation(
    const TaskFile& task, const TaskData& data, const program::Program& trained, Findings& findings
);

/// What a chain keeps of it, but for the location.
contracts::EvaluationCommitment commit_evaluation(const BuiltEvaluation& evaluation);

}  // namespace assay::taskdir
