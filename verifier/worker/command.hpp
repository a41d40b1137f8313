// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/options.hpp>

namespace CLI {
class App;
}

namespace assay::worker {

/// What makes one worker executable differ from another. The default is assay-worker.
struct Flavour {
    std::string description = "assay-worker trains, verifies and disputes training tasks of an Assay chain";
    /// Adds options to the subcommand of a role: solve, verify or whistleblow.
    std::function<void(CLI::App& subcommand, Mode mode)> add_options = [](CLI::App&, Mode) {};
    /// Called once when the options are parsed. May throw std::runtime_error about options that do not fit.
    std::function<std::unique_ptr<Behaviour>(const WorkerOptions& options)> behaviour = [](const WorkerOptions&) {
        return std::make_unique<Behaviour>();
    };
};

/// The main function of a worker executable. Returns its exit status.
int run_command(int argc, char** argv, const Flavour& flavour = {});

}  // namespace assay::worker
