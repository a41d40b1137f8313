// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <core/command/hidden_commands.hpp>
#include <core/command/parse_errors.hpp>
#include <core/system/log/log_options.hpp>
#include <tools/cli/common/commands.hpp>
#include <verifier/sandbox/option.hpp>
#include <verifier/sandbox/sandbox.hpp>

namespace assay::cli {
namespace {

/// Whether errors are to be JSON, known even when the arguments are wrong.
bool wants_json(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument(argv[i]);
        const bool named = argument == "-o" || argument == "--output";
        if (argument == "-ojson" || argument == "-o=json" || argument == "--output=json" ||
            (named && i + 1 < argc && std::string_view(argv[i + 1]) == "json")) {
            return true;
        }
    }
    return false;
}

void add_global_options(CLI::App& app, Session& session) {
    app.add_option(
           "--node", session.node.url, "URL of the node's JSON-RPC: http://, https:// or unix:///PATH of its socket"
    )
        ->envname("ASSAY_NODE")
        ->capture_default_str();
    app.add_option(
           "--node-token-file", session.node.token_file, "File with the node's token, if it has one (rpc.token_file)"
    )
        ->envname("ASSAY_RPC_TOKEN_FILE");
    app.add_option(
           "--node-ca", session.node.authorities, "Certificates to trust for an https:// node; default: the system's"
    )
        ->envname("ASSAY_RPC_CA_FILE");
    app.add_option("--home", session.home, "Where the keys are; default: $ASSAY_HOME or ~/.assay");
    app.add_option(
        "--chain-id", session.chain_id, "The chain's id; default: what the home has pinned, at first the node's word"
    );
    app.add_option("--genesis-hash", session.genesis_hash, "The chain's genesis hash; default: likewise");
    app.add_option("-o,--output", session.output, "text or json; json answers errors too, on stdout")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    sandbox::add_option(app);
    log::add_options(app, session.log);
    app.require_subcommand(1);
    app.fallthrough();  // global options may stand after the command
}

int run(int argc, char** argv) {
    Session session;
    session.home = default_home();
    CLI::App app("assay: tasks, stakes, disputes and audits on an Assay chain", "assay");
    add_global_options(app, session);
    add_keys_commands(app, session);
    add_account_commands(app, session);
    add_stake_commands(app, session);
    add_operator_commands(app, session);
    add_task_commands(app, session);
    add_dispute_commands(app, session);
    add_tx_commands(app, session);
    add_query_commands(app, session);
    add_verify_command(app, session);
    add_penalty_command(app, session);
    add_audit_command(app, session);
    add_validator_commands(app, session);
    add_beacon_commands(app, session);
    add_testnet_command(app, session);
    add_demo_command(app, session);
    add_economics_command(app, session);
    add_plan_command(app, session);
    add_doctor_command(app, session);
    add_store_commands(app, session);
    add_version_command(app, session);
    command::add_hidden_commands(app, "assay");
    const bool json = wants_json(argc, argv);
    try {
        app.parse(argc, argv);
        if (app.count("--log-level") + app.count("--log-format") + app.count("--log-file") > 0) {
            log::start(session.log);
        }
        if (sandbox::mode() == sandbox::Mode::kOff) {
            std::cerr << "assay: warning: " << sandbox::kOffWarning << '\n';
        }
        return session.command();
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            return app.exit(error);  // --help
        }
        return report(
            Failure(kExitUsage, "usage", command::text_of(app, error), {{"hint", "--help lists what there is"}}), json
        );
    } catch (const std::exception& error) {
        return report(to_failure(error), json);
    }
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const int status = assay::cli::run(argc, argv);
    if (!std::cout.flush()) {
        std::cerr
            << "assay: what should have been printed could not be written to standard output; is the disk full?\n";
        return status == assay::cli::kExitOk ? assay::cli::kExitFailure : status;
    }
    return status;
}
