// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <verifier/worker/options.hpp>

namespace assay::worker {

/// How a solver trains in groups of several accounts (GRP-1), as the lead or as a partner. `options` must outlive the
/// parsing.
void add_group_options(CLI::App& command, WorkerOptions& options);

}  // namespace assay::worker
