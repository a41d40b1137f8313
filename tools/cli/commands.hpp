// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <tools/cli/context.hpp>

/// The commands of `assay`. Each function adds one group to `app`; what runs is left in Context::run.
namespace assay::cli {

void add_keys_command(CLI::App& app, Context& context);
void add_account_command(CLI::App& app, Context& context);
void add_stake_command(CLI::App& app, Context& context);
void add_task_command(CLI::App& app, Context& context);
void add_dispute_command(CLI::App& app, Context& context);
void add_tx_command(CLI::App& app, Context& context);
void add_query_command(CLI::App& app, Context& context);
void add_audit_command(CLI::App& app, Context& context);
void add_version_command(CLI::App& app, Context& context);
/// In tools/demo; there only when the build has torch (ASSAY_CLI_DEMO).
void add_demo_command(CLI::App& app, Context& context);

}  // namespace assay::cli
