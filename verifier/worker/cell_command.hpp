// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <verifier/engine/backend/step_machine.hpp>
#include <verifier/worker/options.hpp>

/// What the command line does with --cell, the file of a cell's machines. Where that file is wrong, these functions
/// throw FileError that names it; where a name or a plan that was typed is, UsageError or cell::PlanError.
namespace assay::worker {

/// Makes the machine that leads the cell. Throws std::runtime_error that says what to change if the lead's address
/// cannot be listened on.
std::shared_ptr<engine::StepMachines> lead_cell(
    const std::string& cell_file, const std::string& plan, const WorkerOptions& options
);

/// Executes steps together with the lead of the cell, until a signal ends the program: a member has nothing that could
/// be lost.
int run_member(const std::string& cell_file, const std::string& name, const WorkerOptions& options);

struct MeasureArguments {
    std::string cell_file;
    std::string member;            ///< which of them this machine is; empty: the lead
    double link_seconds = 10.0;    ///< of bytes in each direction of each link
    double machine_seconds = 3.0;  ///< of each measurement of this machine
    std::filesystem::path out = "members.toml";
};
/// Measures the links of a cell and the speed of this machine. Nothing is measured if the lead could not write the
/// result, or not listen. A signal ends it at once.
int run_measuring(const MeasureArguments& args, const WorkerOptions& options);

/// `plan` without what follows colons: "pp:5,3+1f1b8" is "pp+1f1b8".
std::string without_shares(const std::string& plan);

}  // namespace assay::worker
