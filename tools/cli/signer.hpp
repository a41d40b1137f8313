// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/chain/transaction.hpp>
#include <tools/cli/session.hpp>

namespace CLI {
class App;
}

/// How commands come by keys, and what they do with them.
namespace assay::cli {

/// Where the password of a key comes from: a file, else ASSAY_PASSWORD, else a prompt on the terminal. Throws Failure.
struct PasswordSource {
    std::string file;
    std::string read(const std::string& prompt) const;
    /// Asked for twice on a terminal.
    std::string read_new(const std::string& prompt) const;
};

/// The options of commands that sign and wait for the block.
struct Signer {
    std::string key;  ///< name in home/keys; empty: the only one there is
    PasswordSource password;
    std::uint32_t timeout_s = 60;

    void add_options(CLI::App& command);
    /// Throws Failure.
    crypto::SecretKey open(const Session& session) const;
    /// Signs, submits, waits. Throws Failure when the transaction fails in its block.
    net::TxResult send(const Session& session, const contracts::Action& action) const;
};

nlohmann::json to_json(const net::TxResult& result);
/// `text`, and where the transaction is.
void print_sent(const Session& session, const net::TxResult& result, const std::string& text);

// Arguments as people give them; what is wrong throws a usage Failure.
AccountId parse_account(const Session& session, const std::string& text);  ///< an address, hex, or a key's name
Amount parse_amount(const std::string& text);
contracts::Role parse_role(const std::string& text);
template <class Id>
Id parse_id(const std::string& text, const std::string& what) {
    if (const auto id = fixed_from_hex<Id>(text)) {
        return *id;
    }
    throw Failure(kExitUsage, "usage", what + " must be " + std::to_string(2 * Id::kSizeBytes) + " hex digits");
}

}  // namespace assay::cli
