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

/// A task's evaluation, ready to be put in a store.
struct BuiltEvaluation {
    canonical::Tensor holdout;
    program::Program program;
    Bytes artifact;  ///< artifact of the hold-out set
};

/// Reads the hold-out set of `task`, which must have one, and selects a whole number of batches, spread evenly over its
/// rows. `data` is the training data, `trained` the training program. Returns nullopt and adds a finding if that fails.
std::optional<BuiltEvaluation> build_evaluation(
    const TaskFile& task, const TaskData& data, const program::Program& trained, Findings& findings
);

/// Returns the commitment that the chain stores, without the artifact's location.
contracts::EvaluationCommitment commit_evaluation(const BuiltEvaluation& evaluation);

}  // namespace assay::taskdir
