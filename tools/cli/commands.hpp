// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/cli/session.hpp>

namespace CLI {
class App;
}

/// The commands of `assay`. Each function adds its subcommands to `app`; choosing one sets `session.command`, which
/// returns the exit code or throws what to_failure() understands. `session` outlives `app`.
namespace assay::cli {

void add_keys_command(CLI::App& app, Session& session);
void add_demo_command(CLI::App& app, Session& session);

}  // namespace assay::cli
