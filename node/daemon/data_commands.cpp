// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/commands.hpp>

#include <iostream>

#include <nlohmann/json.hpp>

#include <core/crypto/address.hpp>
#include <node/daemon/backup.hpp>
#include <node/daemon/node_key.hpp>

namespace assay::node {
namespace {

nlohmann::ordered_json to_json(const BackupReport& report) {
    return {{"chain_id", report.chain_id},   {"engine", to_string(report.engine)},
            {"height", report.height.value}, {"app_hash", to_hex(report.app_hash.view())},
            {"files", report.files},         {"bytes", report.bytes},
            {"has_keys", report.has_keys}};
}

std::string to_text(const BackupReport& report) {
    return report.chain_id + " at height " + std::to_string(report.height.value) + ", " + std::to_string(report.files) +
           " files with " + std::to_string(report.bytes) + " bytes";
}

constexpr const char* kOneSigner =
    "it holds what the node signs with: never start two nodes with it, since a validator that signs two blocks of one "
    "height loses its stake";

int report_key(const Home& home, const char* what, bool json) {
    if (json) {
        std::cout << nlohmann::ordered_json{{"node_key", home.node_key().string()}, {"state", what}}.dump() << "\n";
    } else {
        std::cout << home.node_key().string() << " is " << what << "\n";
    }
    return kExitOk;
}

}  // namespace

int run_backup(const Home& home, const std::filesystem::path& out, bool with_keys, bool json) {
    const Config config = read_settings({.home = home});
    const BackupReport report = make_backup(
        {.home = home,
         .engine = config.engine,
         .is_attached = config.cometbft_attach,
         .out = out,
         .with_keys = with_keys}
    );
    if (with_keys) {
        std::cerr << "assayd: warning: " << out.string() << ": " << kOneSigner << "\n";
    }
    if (json) {
        auto result = to_json(report);
        result["backup"] = out.string();
        std::cout << result.dump() << "\n";
        return kExitOk;
    }
    std::cout << "backed up " << to_text(report) << ", to " << out.string() << "\n";
    if (!with_keys) {
        std::cout << "keys are not in it: keep a copy of " << home.node_key().string()
                  << (config.engine == EngineKind::kCometBft ? " and of cometbft/config/priv_validator_key.json" : "")
                  << " elsewhere, or give --with-keys\n";
    }
    return kExitOk;
}

int run_restore(const std::filesystem::path& from, const Home& home, bool json) {
    const BackupReport report = restore_backup(from, home, [](Height done, Height of) {
        std::cerr << "replayed " << done.value << " of " << of.value << "\n";
    });
    if (report.has_keys) {
        std::cerr << "assayd: warning: " << home.root.string() << ": " << kOneSigner << "\n";
    }
    if (json) {
        auto result = to_json(report);
        result["home"] = home.root.string();
        std::cout << result.dump() << "\n";
        return kExitOk;
    }
    std::cout << "restored " << to_text(report) << "; the app hash is " << to_hex(report.app_hash.view()) << "\n";
    if (!report.has_keys) {
        std::cout << "the backup has no keys: copy the old node_key (and rpc_token, if there was one) to "
                  << home.root.string()
                  << " (mode 0600) before you start it, or look at the chain with assayd inspect\n";
    }
    if (report.engine == EngineKind::kCometBft && report.has_keys) {
        std::cout << "cometbft/data/priv_validator_state.json, the record of what the validator has signed, is in no "
                     "backup: take it from the machine that signed last. Without it CometBFT does not start\n";
    }
    std::cout << "next: assayd start --home " << home.root.string() << "\n";
    return kExitOk;
}

int run_prune(const PruneOptions& options, bool json) {
    if (read_settings({.home = options.home}).engine != EngineKind::kSolo) {
        throw ConfigError(
            "this home is for CometBFT, whose node prunes while it runs: set pruning.keep_blocks in " +
            options.home.config().string()
        );
    }
    const PruneReport report = prune_log(options);
    if (json) {
        nlohmann::ordered_json out{
            {"first_block", report.first.value},
            {"height", report.height.value},
            {"removed_blocks", report.removed_blocks},
            {"bytes_before", report.bytes_before},
            {"bytes_after", report.bytes_after},
            {"base_bytes", report.base_bytes},
            {"archive", nullptr}};
        if (options.archive) {
            out["archive"] = {
                {"file", options.archive->string()},
                {"first_block", report.archive_first.value},
                {"height", report.archive_height.value}};
        }
        std::cout << out.dump() << "\n";
        return kExitOk;
    }
    if (report.removed_blocks == 0) {
        std::cout << "nothing to cut: the log has the blocks " << report.first.value << " to " << report.height.value
                  << "\n";
    } else {
        std::cout << "cut " << report.removed_blocks << " blocks off: the log begins with block " << report.first.value
                  << " and has " << report.bytes_after << " bytes instead of " << report.bytes_before
                  << "; the state that it begins with takes " << report.base_bytes << "\n";
    }
    if (options.archive) {
        std::cout << options.archive->string() << " has the blocks " << report.archive_first.value << " to "
                  << report.archive_height.value << "\n";
    }
    return kExitOk;
}

int run_key_seal(const Home& home, const std::filesystem::path& password_file, bool json) {
    const crypto::SecretText password = node_password(process_environment(), password_file, true);
    seal_node_key(home.node_key(), password.view());
    return report_key(home, "sealed", json);
}

int run_key_unseal(const Home& home, const std::filesystem::path& password_file, bool json) {
    const crypto::SecretText password = node_password(process_environment(), password_file);
    unseal_node_key(home.node_key(), password.view());
    return report_key(home, "not sealed", json);
}

}  // namespace assay::node
