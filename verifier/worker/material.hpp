// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <core/merkle/tree.hpp>
#include <contracts/tasks/task.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/program/program.hpp>

namespace assay::worker {

/// What a task is made of, fetched and checked against what the chain says of it.
struct Material {
    contracts::TaskId task;
    contracts::TaskSpec spec;
    program::Program program;
    std::vector<canonical::Tensor> initial{};  ///< what the init graph reads; empty for a program that needs nothing
    std::shared_ptr<const artifacts::Dataset> dataset;
    merkle::Tree rows_tree;

    /// The first step of segment `segment` > 0, and how many it has.
    std::uint64_t first_step(std::uint32_t segment) const;
    std::uint64_t step_count(std::uint32_t segment) const;
};

/// Why something cannot be had. Never says anything about the solver's honesty.
struct Unavailable {
    bool is_final = false;  ///< trying again cannot help: the bytes are those named, and they are unusable
    std::string reason;
};

/// Fetches program, initial tensors and dataset, and checks the program's commitment and both roots against the task's.
Result<std::shared_ptr<const Material>, Unavailable> load_material(
    const contracts::TaskId& task, const contracts::TaskSpec& spec, const artifacts::ContentStore& store,
    const artifacts::FetchLimits& limits = {}
);

/// Fetches a checkpoint's state and checks its root.
Result<std::vector<canonical::Tensor>, Unavailable> load_state(
    const Material& material, const contracts::Checkpoint& checkpoint, const artifacts::ContentStore& store,
    const artifacts::FetchLimits& limits = {}
);

}  // namespace assay::worker
