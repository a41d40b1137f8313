// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <verifier/launcher/launch.hpp>
#include <verifier/worker/options.hpp>

namespace CLI {
class App;
}

namespace assay::worker {

/// The options of `assay-worker run`.
struct RunArguments {
    launcher::LaunchOptions launch{};
    std::string image{};  ///< [NAME@]DIGEST
    std::vector<std::string> labels{};
    std::vector<std::string> allowed{};
    std::string home{};
    std::uint32_t stop_seconds = 120;
    bool checks_only = false;
    std::string output = "text";
};

/// Adds the subcommand `run`, which starts a worker in an image.
CLI::App* add_run(CLI::App& app, RunArguments& args);

/// Checks the image, and runs the worker in it until it ends or `stop` is set. Returns the exit status of the worker.
/// Throws UsageError, and what launcher::launch() throws.
int run_in_image(RunArguments& args, const std::atomic<bool>& stop);

/// Adds --environment-file, with what a worker states of its environment (ENV-4).
void add_environment_option(CLI::App& command, WorkerOptions& options);

}  // namespace assay::worker
