// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <contracts/chain/transaction.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <tools/cli/proof.hpp>
#include <tools/cli/session.hpp>

namespace CLI {
class App;
}

/// What the commands' arguments mean, and signing with a key of the user's.
namespace assay::cli {

/// The failure of an argument that is well placed and wrong.
Failure usage(const std::string& message, const std::string& hint = "");

/// 64 hex digits; throws usage() naming `what`.
template <class Id>
Id decode_id(const std::string& text, const char* what) {
    if (const auto id = fixed_from_hex<Id>(text)) {
        return *id;
    }
    throw usage("\"" + text + "\" is not the id of a " + what + ": 64 hex digits");
}

/// An address, 64 hex digits, or the name of a key in the home.
AccountId decode_account(const Session& session, const std::string& text);
/// Likewise; the only key of the home when `text` is empty.
AccountId account_or_own(const Session& session, const std::string& text);
Amount amount_argument(const std::string& text);
contracts::Role role_argument(const std::string& text);

/// Whose signatures of blocks count: --proposer, or --trust-height and --trust-hash; and of how old a block: --max-age.
struct Trusting {
    std::string proposer;
    std::uint64_t height = 0;
    std::string hash;
    std::int64_t max_age_s = 3'600;
};
std::shared_ptr<Trusting> add_trust_options(CLI::App& command);
/// Throws usage().
Trust trust_of(const Session& session, const Trusting& trusting);

/// Who signs: --from and --password-file.
struct Signing {
    std::string from;
    std::string password_file;
};
std::shared_ptr<Signing> add_signing_options(CLI::App& command);
/// Opens the key; throws Failure.
crypto::SecretKey unlock(const Session& session, const Signing& signing);

/// Signs, submits, waits for the block. Throws Failure kExitRejected when the transaction failed in it.
net::TxResult send(const Session& session, const crypto::SecretKey& key, const contracts::Action& action);
/// Likewise, and prints the outcome with what `details` adds.
int send_and_print(
    const Session& session, const Signing& signing, const contracts::Action& action,
    const nlohmann::json& details = nlohmann::json::object()
);

/// A line for people where a node that began with a snapshot lacks what was before it; else nothing.
std::string begins_note(const nlohmann::json& answer);
/// A listing's items, following cursors, at most `limit`: {name: [...], "next_cursor": ..., "first_height": ...}.
nlohmann::json list(
    net::RpcClient& rpc, const std::string& method, nlohmann::json params, const char* name, std::uint64_t limit
);

}  // namespace assay::cli
