// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/optimizer.hpp>
#include <verifier/taskdir/task_file.hpp>
#include <verifier/taskdir/toml_section.hpp>

/// Internal to the task directory: the section [replicas] of task.toml.
namespace assay::taskdir {

/// How the section's replicas exchange what they learn.
enum class Exchange : std::uint8_t { kDense, kDgc, kDiloco, kSparseLoco, kStreaming };
Exchange read_exchange(const TomlSection& section);
/// Whether they do so at the end of a round only.
constexpr bool is_local(Exchange exchange) {
    return exchange == Exchange::kDiloco || exchange == Exchange::kSparseLoco || exchange == Exchange::kStreaming;
}

/// Replicas that exchange gradients in every step. `optimizer` has been read already.
program::Replicas read_replicas(
    const TomlSection& section, Exchange exchange, const Model& model, const program::OptimizerConfig& optimizer
);
/// Local replicas; a turn is a checkpoint interval unless the section says otherwise.
program::LocalReplicas read_local_replicas(
    const TomlSection& section, Exchange exchange, const contracts::TaskSpec& spec
);

/// Makes a program one of local replicas; false after a finding.
bool add_local_replicas(program::Program& program, const program::LocalReplicas& local, Findings& findings);

/// What is unwise about a task of local replicas.
void check_rounds(const program::LocalReplicas& local, const contracts::TaskSpec& spec, Findings& findings);

}  // namespace assay::taskdir
