// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <consensus/cometbft/supervisor.hpp>
#include <consensus/solo/engine.hpp>
#include <core/command/hidden_commands.hpp>
#include <core/command/parse_errors.hpp>
#include <core/keys/key_file.hpp>
#include <core/keys/password.hpp>
#include <core/system/log/log.hpp>
#include <core/system/log/log_options.hpp>
#include <node/daemon/backup.hpp>
#include <node/daemon/commands.hpp>
#include <node/daemon/config.hpp>
#include <node/api/genesis_file.hpp>

namespace assay::node {
namespace {

int report(int code, const char* name, const std::string& message, bool json) {
    if (json) {
        std::cout << nlohmann::ordered_json{{"error", {{"code", code}, {"name", name}, {"message", message}}}}.dump()
                  << "\n";
    }
    if (log::is_started()) {
        log::error(message);
    }
    if (!log::is_started() || log::has_file()) {
        std::cerr << "assayd: " << message << "\n";
    }
    return code;
}

int guard(const std::function<int()>& command, bool json) {
    try {
        return command();
    } catch (const ConfigError& error) {
        return report(kExitConfig, "config", error.what(), json);
    } catch (const GenesisFileError& error) {
        return report(kExitConfig, "genesis", error.what(), json);
    } catch (const HomeError& error) {
        return report(kExitConfig, "home", error.what(), json);
    } catch (const crypto::KeyFileError& error) {
        return report(kExitConfig, "key", error.what(), json);
    } catch (const crypto::PasswordError& error) {
        return report(kExitConfig, "password", error.what(), json);
    } catch (const BackupError& error) {
        return report(kExitFailure, "backup", error.what(), json);
    } catch (const PruneError& error) {
        return report(kExitFailure, "prune", error.what(), json);
    } catch (const cometbft::EngineError& error) {
        return report(kExitConfig, "engine", error.what(), json);
    } catch (const consensus::HaltError& error) {
        return report(kExitHalted, "halted", error.what(), json);
    } catch (const solo::AppHashMismatch& error) {
        return report(kExitMismatch, "mismatch", error.what(), json);
    } catch (const solo::HandshakeError& error) {
        return report(kExitMismatch, "chain_broken", error.what(), json);
    } catch (const std::exception& error) {
        return report(kExitFailure, "failed", error.what(), json);
    }
}

/// The command line; each subcommand says what there is to do once it was read.
class CommandLine {
  public:
    CommandLine() {
        start_.log.program = "assayd";
        app_.require_subcommand(1);
        add_init();
        add_testnet();
        add_start();
        add_inspect();
        add_data();
        add_key();
        add_settings();
        add_others();
        command::add_hidden_commands(app_, "assayd");
    }

    int run(int argc, char** argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            if (error.get_exit_code() == 0) {
                return app_.exit(error);  // --help
            }
            std::cerr << "assayd: " << command::text_of(app_, error) << "\n  --help lists what there is" << std::endl;
            return kExitUsage;
        }
        return guard(chosen_, is_json());
    }

  private:
    bool is_json() const { return output_ == "json"; }

    void add_init() {
        CLI::App* const command = add("init", "Make a home: config.toml, genesis.json and a node key", [this] {
            init_.home = {home_};
            init_.json = is_json();
            init_.engine = *decode_engine(engine_);
            init_.cometbft_program = cometbft_;
            return run_init(init_);
        });
        add_home(command);
        add_output(command);
        add_engine(command);
        command->add_option("--chain-id", init_.chain_id, "The chain's id, 1 to 48 characters of [a-z0-9-]")
            ->capture_default_str();
        command->add_option("--genesis", init_.genesis, "A genesis file to start from")->excludes("--chain-id");
        command->add_flag("--seal", init_.seals, "Seal the node key with a password");
        add_password(command, init_.password_file);
        command->add_flag("--rpc-token", init_.has_token, "Make a token that callers of the JSON-RPC must send");
    }

    void add_testnet() {
        constexpr const char* kPurpose = "Make homes for many validators of one chain on this machine (CometBFT)";
        CLI::App* const command = add("testnet", kPurpose, [this] {
            testnet_.directory = testnet_directory_;
            testnet_.cometbft_program = cometbft_;
            testnet_.json = is_json();
            return run_testnet(testnet_);
        });
        command->add_option("--home", testnet_directory_, "The directory that gets node0, node1, ...")->required();
        add_output(command);
        command->add_option("--validators", testnet_.validators, "Number of validators")->capture_default_str();
        command
            ->add_option("--full-nodes", testnet_.full_nodes, "Number of nodes that follow the chain and do not vote")
            ->capture_default_str();
        command->add_option("--chain-id", testnet_.chain_id, "The chain's id, 1 to 48 characters of [a-z0-9-]")
            ->capture_default_str();
        command->add_option("--genesis", testnet_.genesis, "A genesis file to start from")->excludes("--chain-id");
        command
            ->add_option(
                "--base-port", testnet_.base_port,
                "First port; node i has the ports from this plus 10 i on; 0 takes free ones"
            )
            ->capture_default_str();
        command
            ->add_option(
                "--block-interval-ms", testnet_.block_interval_ms, "Milliseconds that the engine waits after a block"
            )
            ->check(CLI::PositiveNumber)
            ->capture_default_str();
        add_cometbft(command);
    }

    void add_start() {
        CLI::App* const command = add("start", "Run the node until SIGINT or SIGTERM", [this] {
            start_.home = {home_};
            set_engine(app_.get_subcommand("start"));
            return run_start(start_);
        });
        add_home(command);
        add_start_settings(command);
        log::add_options(*command, start_.log);
    }

    void add_start_settings(CLI::App* command) {
        add_engine(command);
        add_rpc(command);
        command->add_option("--block-interval-ms", start_.block_interval_ms, "Milliseconds between blocks")
            ->check(CLI::PositiveNumber);
        command->add_option("--create-empty-blocks", start_.create_empty_blocks, "true or false");
        command->add_option(
            "--resume-at", start_.resume_at, "Go on with this block, before which the validators had voted to halt"
        );
    }
    void set_engine(const CLI::App* command) {
        if (command->count("--engine") > 0) {
            start_.engine = decode_engine(engine_);
        }
        if (!cometbft_.empty()) {
            start_.cometbft_program = cometbft_;
        }
    }
    void add_password(CLI::App* command, std::filesystem::path& file) {
        command->add_option(
            "--password-file", file,
            "Its first line is the password; default: ASSAY_NODE_PASSWORD_FILE, ASSAY_NODE_PASSWORD, or the terminal"
        );
    }

    void add_inspect() {
        CLI::App* const command =
            add("inspect", "Serve the data of a node that is not running; makes no blocks and takes no transactions",
                [this] {
                    start_.home = {home_};
                    start_.only_inspects = true;
                    return run_start(start_);
                });
        add_home(command);
        add_rpc(command);
        log::add_options(*command, start_.log);
    }

    void add_data() {
        CLI::App* const backup =
            add("backup", "Copy what a home cannot do without; the embedded engine's node may run meanwhile",
                [this] { return run_backup({home_}, directory_, with_keys_, is_json()); });
        add_home(backup);
        add_output(backup);
        backup->add_option("--out", directory_, "The directory to make")->required();
        backup->add_flag("--with-keys", with_keys_, "Also copy what the node signs with");
        CLI::App* const restore = add("restore", "Verify a backup and make a home of it; overwrites nothing", [this] {
            return run_restore(directory_, {home_}, is_json());
        });
        add_home(restore);
        add_output(restore);
        restore->add_option("--in", directory_, "The directory that assayd backup made")->required();
        add_prune();
    }

    void add_prune() {
        CLI::App* const command = add("prune", "Cut the oldest blocks off the log of the embedded engine", [this] {
            prune_.home = {home_};
            return run_prune(prune_, is_json());
        });
        add_home(command);
        add_output(command);
        command->add_option("--keep-blocks", prune_.keep_blocks, "Number of latest blocks that stay")->required();
        auto* const where = command->add_option_group("what is cut off");
        where->add_option("--archive", prune_.archive, "A block log, made or continued with all that it lacks");
        where->add_flag("--discard", prune_.discards, "Keep nothing of it: nobody can replay this chain from genesis");
        where->require_option(1);
    }

    void add_key() {
        CLI::App* const key = app_.add_subcommand("key", "The node key's password");
        key->require_subcommand(1);
        const auto add_part = [&](const char* name, const char* purpose, auto what) {
            CLI::App* const command = key->add_subcommand(name, purpose);
            command->callback([this, what] {
                chosen_ = [this, what] { return what(Home{home_}, password_file_, is_json()); };
            });
            add_home(command);
            add_output(command);
            add_password(command, password_file_);
        };
        add_part("seal", "Seal the node key with a new password", &run_key_seal);
        add_part("unseal", "Write the node key so that it needs no password", &run_key_unseal);
    }

    void add_settings() {
        CLI::App* const config = app_.add_subcommand("config", "The settings");
        config->require_subcommand(1);
        CLI::App* const show = config->add_subcommand("show", "Print each setting, its value, and what it was set by");
        show->callback([this, show] {
            chosen_ = [this, show] {
                start_.home = {home_};
                set_engine(show);
                return run_config_show(start_, is_json());
            };
        });
        add_home(show);
        add_output(show);
        add_start_settings(show);
        CLI::App* const token = add("token", "Make a token that callers of the JSON-RPC must send", [this] {
            return run_token({home_}, is_json());
        });
        add_home(token);
        add_output(token);
    }

    void add_others() {
        CLI::App* const replay =
            add("replay", "Re-execute every block from genesis and compare the app hash at every height", [this] {
                replay_.home = {home_};
                replay_.json = is_json();
                return run_replay(replay_);
            });
        add_home(replay);
        replay->add_option(
            "--log", replay_.log, "Another block log than the home's, such as an archive of assayd prune"
        );
        add_output(replay);
        CLI::App* const validator =
            add("show-validator", "Print the consensus key", [this] { return run_show_validator({home_}, is_json()); });
        add_home(validator);
        add_output(validator);
        add_output(add("version", "Print the version", [this] { return run_version(is_json()); }));
    }

    CLI::App* add(const char* name, const char* purpose, std::function<int()> what) {
        CLI::App* const command = app_.add_subcommand(name, purpose);
        command->callback([this, what = std::move(what)] { chosen_ = what; });
        return command;
    }
    void add_home(CLI::App* command) {
        command->add_option("--home", home_, "The node's home directory")->capture_default_str();
    }
    void add_rpc(CLI::App* command) {
        command->add_option("--rpc-address", start_.rpc_address, "IP address on which the JSON-RPC listens");
        command->add_option("--rpc-port", start_.rpc_port, "Port of the JSON-RPC; 0 takes any free one");
        command->add_option(
            "--metrics-address", start_.metrics_address, "IP address on which Prometheus gets /metrics; default: none"
        );
        command->add_option("--metrics-port", start_.metrics_port, "Port of the metrics; 0 takes any free one");
    }
    void add_output(CLI::App* command) {
        command->add_option("-o,--output", output_, "text or json")->check(CLI::IsMember({"text", "json"}));
    }
    void add_engine(CLI::App* command) {
        command
            ->add_option("--engine", engine_, "Who makes the blocks: solo (this process) or cometbft (many validators)")
            ->check(CLI::IsMember({"solo", "cometbft"}));
        add_cometbft(command);
    }
    void add_cometbft(CLI::App* command) {
        command->add_option(
            "--cometbft", cometbft_, "The cometbft program; default: looked for on the PATH and in ~/go/bin"
        );
    }

    CLI::App app_{"Assay's node: chain, state and JSON-RPC in one process."};
    std::string home_ = default_home().root.string();
    std::string output_ = "text";
    std::string engine_ = "solo";
    std::string cometbft_{};
    InitOptions init_{};
    TestnetOptions testnet_{};
    std::string testnet_directory_{};
    StartOptions start_{};
    ReplayOptions replay_{};
    PruneOptions prune_{};
    std::filesystem::path directory_{};  ///< of a backup
    std::filesystem::path password_file_{};
    bool with_keys_ = false;
    std::function<int()> chosen_{};
};

}  // namespace
}  // namespace assay::node

int main(int argc, char** argv) { return assay::node::CommandLine().run(argc, argv); }
