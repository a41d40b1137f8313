// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <verifier/worker/options.hpp>

namespace CLI {
class App;
}

/// Options that name locations of artifacts (ART-20).
namespace assay::worker {

void add_source_options(CLI::App& command, std::vector<std::string>& sources);
void add_relay_options(CLI::App& command, std::vector<std::string>& relays);
void add_publish_options(CLI::App& command, WorkerOptions& options);
/// Throws UsageError if --publish names a location twice, or fewer than --publish-copies wants.
void check_publishing(const WorkerOptions& options);
/// In how many of the locations a checkpoint has to lie.
std::uint32_t publish_copies(const WorkerOptions& options);

}  // namespace assay::worker
