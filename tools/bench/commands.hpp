// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::bench {

/// The subcommands of assay-bench. The text that a subcommand returns is printed.
class Commands {
  public:
    explicit Commands(CLI::App& app) : app_(app) {}
    /// Adds a subcommand and returns it, so that options can be added. `run` must own the variables that the options
    /// write to.
    CLI::App* add(const std::string& name, const std::string& description, std::function<std::string()> run) {
        CLI::App* const command = app_.add_subcommand(name, description);
        runs_.emplace_back(command, std::move(run));
        return command;
    }
    /// Runs the selected subcommand and returns its text.
    std::string run() const {
        for (const auto& [command, run] : runs_) {
            if (command->parsed()) {
                return run();
            }
        }
        return {};
    }

  private:
    CLI::App& app_;
    std::vector<std::pair<CLI::App*, std::function<std::string()>>> runs_;
};

/// Benchmarks of training, replay and arithmetic; they need libtorch.
void add_training_commands(Commands& commands);
/// Benchmarks of the chain.
void add_chain_command(Commands& commands);
/// Writes signed transfers for what measures a chain from outside.
void add_transfers_command(Commands& commands);
/// Measures the cost of transactions relative to their gas.
void add_gas_command(Commands& commands);
/// Measures how checkpoints are stored, fetched and loaded.
void add_artifacts_command(Commands& commands);
/// Measures what private tasks cost.
void add_sealed_command(Commands& commands);
/// Compares the node's tables in memory with the library's.
void add_tables_command(Commands& commands);
/// Compares hashes that are computed several at once with as many one by one.
void add_hashes_command(Commands& commands);

}  // namespace assay::bench
