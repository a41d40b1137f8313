// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tools/cli/common/session.hpp>

namespace CLI {
class App;
}

/// The commands of `assay`. Each function adds its subcommands to `app`. Selecting one sets `session.command`, which
/// returns the exit code or throws an exception that to_failure() accepts. `session` must outlive `app`.
namespace assay::cli {

void add_keys_commands(CLI::App& app, Session& session);
void add_account_commands(CLI::App& app, Session& session);
void add_stake_commands(CLI::App& app, Session& session);
void add_operator_commands(CLI::App& app, Session& session);
void add_task_commands(CLI::App& app, Session& session);
void add_task_directory_commands(CLI::App& group, Session& session);  ///< subcommands of `task`
void add_task_keys_command(CLI::App& group, Session& session);        ///< likewise
void add_task_init_command(CLI::App& group, Session& session);        ///< likewise
void add_dispute_commands(CLI::App& app, Session& session);
void add_tx_commands(CLI::App& app, Session& session);
void add_query_commands(CLI::App& app, Session& session);
void add_proof_command(CLI::App& group, Session& session);  ///< a subcommand of `query`
void add_verify_command(CLI::App& app, Session& session);
void add_penalty_command(CLI::App& app, Session& session);
void add_audit_command(CLI::App& app, Session& session);
void add_export_commands(CLI::App& group, Session& session);  ///< subcommands of `audit`
void add_validator_commands(CLI::App& app, Session& session);
void add_governance_commands(CLI::App& validator, Session& session);  ///< subcommands of `validator`
void add_proposals_command(CLI::App& group, Session& session);        ///< a subcommand of `query`
void add_beacon_commands(CLI::App& app, Session& session);
void add_testnet_command(CLI::App& app, Session& session);
void add_demo_command(CLI::App& app, Session& session);
void add_economics_command(CLI::App& app, Session& session);
void add_plan_command(CLI::App& app, Session& session);
void add_doctor_command(CLI::App& app, Session& session);
void add_store_commands(CLI::App& app, Session& session);
void add_version_command(CLI::App& app, Session& session);

}  // namespace assay::cli
