// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/task.hpp>
#include <core/system/process.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::demo {

/// A port of this machine that is free now. Another process may take it before a worker does, which the worker then
/// says.
std::uint16_t free_port();

/// What the plan says that a machine sends in a step, and has of the state.
struct PlanFormulas {
    std::uint64_t bytes = 0;
    std::uint64_t state = 0;
};
/// `parallel` is the name of a layout for so many workers, or a way to train replicas.
PlanFormulas formulas_of(
    const program::Program& program, const std::string& parallel, std::uint32_t workers, bool is_stated = false
);

/// The machines of a solver that is a cell: processes on loopback.
class Crew {
  public:
    /// Starts `workers` - 1 members, which wait for the solver. `parallel` is the name of a layout for so many, or a
    /// way to train replicas. Throws std::runtime_error if a process cannot be started.
    Crew(
        const std::filesystem::path& bin, const std::filesystem::path& home, std::uint32_t workers,
        std::string parallel, std::uint64_t seed
    );

    /// What the solver's command line has besides.
    std::vector<std::string> solver_arguments() const;
    /// Steps of the longest session in which a machine but the first took part.
    std::uint64_t steps() const;
    void stop();

    struct Roots {
        std::string last;         ///< of the last checkpoint that was compared
        std::string one_process;  ///< what one process got for it
    };
    /// Returns what the machines did, by their logs and the solver's, beside what the plan and the formulas say.
    nlohmann::json report(const std::filesystem::path& solver_log, const program::Program& program, const Roots& roots)
        const;

  private:
    std::filesystem::path hosts_file_;
    std::uint32_t workers_;
    std::string parallel_;
    std::string layout_;
    std::vector<std::unique_ptr<system::Process>> members_;
};

/// Verifiers that are cells of two machines, which divide what they replay otherwise than the solver does.
class ReplayCells {
  public:
    ReplayCells(std::filesystem::path bin, std::filesystem::path home, std::uint64_t seed)
        : bin_(std::move(bin)), home_(std::move(home)), seed_(seed) {}

    /// Starts the second machine of this verifier. Returns what the verifier's command line has besides.
    std::vector<std::string> add(const std::string& verifier);
    /// Stops them, and returns how they replayed, and the steps of the longest replay.
    nlohmann::json report();

  private:
    std::filesystem::path bin_;
    std::filesystem::path home_;
    std::uint64_t seed_;
    std::vector<std::unique_ptr<Crew>> crews_{};
};

/// Executes every segment of a task again in one process, as `assay verify segment` does, up to the first whose root is
/// not the chain's, and returns the last two roots. Throws std::runtime_error if a segment cannot be executed.
Crew::Roots replay_alone(
    const std::filesystem::path& home, const std::string& node_url, const contracts::TaskId& task,
    std::uint32_t segments
);

/// What the machines did, in a few lines.
std::string describe_crew(const nlohmann::json& report);
/// What is not as it should be, in words.
std::vector<std::string> judge_crew(const nlohmann::json& report);

}  // namespace assay::demo
