// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include <verifier/worker/command.hpp>
#include <verifier/worker/options.hpp>

namespace assay::worker {

/// The options of `assay-worker ui`.
struct UiArguments {
    std::string home{};  ///< empty: the owner's folder for data
    std::string listen = "127.0.0.1:0";
    bool opens_browser = true;
};

/// Adds the subcommand `ui`. `worker` gets what all workers of the process have.
CLI::App* add_ui(CLI::App& app, UiArguments& args, WorkerOptions& worker);

/// Serves the page until `stop` is set or the owner quits. Throws what opening the home and the port can throw.
int run_ui(const UiArguments& args, WorkerOptions worker, const Flavour& flavour, const std::atomic<bool>& stop);

}  // namespace assay::worker
