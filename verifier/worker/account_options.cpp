// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/account_options.hpp>

#include <CLI/CLI.hpp>

#include <core/crypto/address.hpp>
#include <core/keys/key_file.hpp>
#include <core/keys/password.hpp>
#include <verifier/worker/failure.hpp>
#include <verifier/worker/store_options.hpp>

namespace assay::worker {
namespace {

void add_owner(CLI::App& command, WorkerOptions& options) {
    command
        .add_option_function<std::string>(
            "--owner", [&options](const std::string& text) { options.owner = crypto::decode_address(text).value(); },
            "The account whose stake and duties these are, which has named the key's account as its operator; "
            "default: the key's own"
        )
        ->check(CLI::Validator(
            [](const std::string& text) {
                return crypto::decode_address(text) ? std::string() : std::string("an address (assay1...) is needed");
            },
            "ADDRESS"
        ));
}

}  // namespace

void add_node(CLI::App& command, client::NodeAddress& node) {
    command.add_option("--node", node.url, "URL of the node's RPC: http://, https:// or unix:///PATH of its socket")
        ->capture_default_str();
    command
        .add_option("--node-token-file", node.token_file, "File with the node's token, if it has one (rpc.token_file)")
        ->envname("ASSAY_RPC_TOKEN_FILE");
    command
        .add_option("--node-ca", node.authorities, "Certificates to trust for an https:// node; default: the system's")
        ->envname("ASSAY_RPC_CA_FILE");
}

void add_account_options(CLI::App& command, WorkerOptions& options, KeyFiles& key) {
    add_node(command, options.node);
    command.add_option("--chain-id", options.pins.chain_id, "The chain's id; default: what --home has pinned");
    command.add_option("--genesis-hash", options.pins.genesis_hash, "The chain's genesis hash; default: likewise")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return fixed_from_hex<Hash256>(text) ? std::string() : std::string("64 hex digits are needed");
            },
            "HASH"
        ));
    auto* sealed = command.add_option("--key", key.sealed, "Keystore file of the account that signs");
    command.add_option("--key-hex-file", key.hex, "File with the secret key as 64 hex digits; only for devnets")
        ->excludes(sealed);
    command.add_option(
        "--password-file", key.password, "File whose first line is the password; default: $ASSAY_PASSWORD, or asked for"
    );
    add_owner(command, options);
}

void add_fetching_options(CLI::App& command, WorkerOptions& options) {
    command.add_flag(
        "--allow-private-addresses", options.allow_private_addresses,
        "Fetch from loopback and private networks too; only for devnets, since whoever submits a task "
        "chooses the "
        "address"
    );
    add_source_options(command, options.artifact_sources);
    command.add_option("--cache-max", options.cache_bytes, "Disk space for artifacts of others, e.g. 64GiB")
        ->transform(CLI::AsSizeValue(false))
        ->default_str("64GiB");
    command.add_option("--disk-reserve", options.reserve_bytes, "Disk space kept free for disputes, e.g. 1GiB")
        ->transform(CLI::AsSizeValue(false))
        ->default_str("1GiB");
}

crypto::SecretKey read_key(const KeyFiles& key) {
    if (!key.hex.empty()) {
        return crypto::read_hex_key(key.hex);
    }
    if (key.sealed.empty()) {
        throw UsageError(
            "no key is given: --key takes a key file that `assay keys new` made, --key-hex-file a secret in hex"
        );
    }
    const crypto::SecretText password = crypto::read_password(
        {.file = key.password, .variable = "ASSAY_PASSWORD", .prompt = "Password for " + key.sealed, .twice = false}
    );
    return crypto::read_sealed_key(key.sealed, password.view());
}

}  // namespace assay::worker
