// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/crypto/keys.hpp>
#include <verifier/worker/options.hpp>

namespace CLI {
class App;
}

/// Options of the subcommands that act for an account.
namespace assay::worker {

/// Where an account's key is.
struct KeyFiles {
    std::string sealed{};    ///< a keystore file
    std::string hex{};       ///< or a file with the secret key in hex
    std::string password{};  ///< file with the password; empty: $ASSAY_PASSWORD, or asked for
};

/// Adds where the node is.
void add_node(CLI::App& command, client::NodeAddress& node);
/// Adds the node, the chain, the account's key and the owner that it acts for.
void add_account_options(CLI::App& command, WorkerOptions& options, KeyFiles& key);
/// Adds what is fetched, from where, and the room that it has.
void add_fetching_options(CLI::App& command, WorkerOptions& options);
/// Reads the key. Throws UsageError if none is named, crypto::KeyFileError or crypto::PasswordError.
crypto::SecretKey read_key(const KeyFiles& key);

}  // namespace assay::worker
