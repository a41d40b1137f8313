// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <verifier/relay/server.hpp>
#include <verifier/worker/options.hpp>

namespace CLI {
class App;
}

namespace assay::worker {

/// The options of `assay-worker relay` that are no other subcommand's.
struct RelayArguments {
    relay::RelayOptions serving{};
};

/// Adds them to the subcommand. `args` has to outlive the parsing.
void add_relay_serving(CLI::App& command, RelayArguments& args);

/// Forwards connections until `stop` is set; `options` says where it listens and where metrics are. Returns the exit
/// status. Throws UsageError, and http::NetError with an address that cannot be bound.
int run_relay(
    const RelayArguments& args, const WorkerOptions& options, bool json_progress, const std::atomic<bool>& stop
);

}  // namespace assay::worker
