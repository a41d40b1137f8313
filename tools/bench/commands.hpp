// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::bench {

/// The subcommands of assay-bench; what each returns is printed.
class Commands {
  public:
    explicit Commands(CLI::App& app) : app_(app) {}
    /// The subcommand's options are added to what this returns. `run` keeps what they write to.
    CLI::App* add(const std::string& name, const std::string& description, std::function<std::string()> run) {
        CLI::App* const command = app_.add_subcommand(name, description);
        runs_.emplace_back(command, std::move(run));
        return command;
    }
    /// Runs the one that was named.
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

/// What training, replay and arithmetic cost; needs libtorch.
void add_training_commands(Commands& commands);
/// What the chain costs.
void add_chain_command(Commands& commands);
/// What transactions cost beside their gas.
void add_gas_command(Commands& commands);

}  // namespace assay::bench
