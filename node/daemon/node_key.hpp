// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include <core/crypto/keys.hpp>
#include <core/keys/keystore.hpp>
#include <core/keys/private_file.hpp>
#include <node/daemon/config.hpp>
#include <node/daemon/home.hpp>

/// The node key as a file: 64 hex digits, or sealed with a password as the keys of accounts are.
namespace assay::node {

/// Returns true if the file holds a sealed key. Throws HomeError if it cannot be read.
bool is_sealed_node_key(const std::filesystem::path& file);

/// Returns the password of a node's key: the first line of the file that ASSAY_NODE_PASSWORD_FILE names, else of the
/// credential node_password that systemd gives the service, else ASSAY_NODE_PASSWORD, else what is typed on the
/// terminal. `file` takes precedence over all of them unless it is empty. Throws crypto::PasswordError.
crypto::SecretText node_password(
    const Environment& environment, const std::filesystem::path& file = {}, bool is_new = false
);

/// Returns the node's key, asking for its password if it is sealed. Throws HomeError and crypto::PasswordError.
crypto::SecretKey open_node_key(
    const Home& home, const Environment& environment = process_environment(),
    const std::filesystem::path& password_file = {}
);

/// Replaces the file by one with the key sealed. Atomic. Throws HomeError, also if it is sealed already.
void seal_node_key(const std::filesystem::path& file, std::string_view password, crypto::KeystoreCost cost = {});
/// Replaces the file by one with the key in hex. Atomic. Throws HomeError, also if it is not sealed.
void unseal_node_key(const std::filesystem::path& file, std::string_view password);

}  // namespace assay::node
