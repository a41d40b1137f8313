// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <contracts/transaction/transaction.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <client/proven_chain.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/session.hpp>

namespace CLI {
class App;
}

/// Interpretation of command arguments, and signing with a key of the user.
namespace assay::cli {

/// Returns the failure for an argument whose value is wrong.
Failure usage(const std::string& message, const std::string& hint = "");

/// Decodes 64 hex digits. Throws usage() with the name `what`.
template <class Id>
Id decode_id(const std::string& text, const char* what) {
    if (const auto id = fixed_from_hex<Id>(text)) {
        return *id;
    }
    throw usage("\"" + text + "\" is not the id of a " + what + ": 64 hex digits");
}

/// Decodes an address, 64 hex digits, or the name of a key in the home.
AccountId decode_account(const Session& session, const std::string& text);
/// Likewise; if `text` is empty, returns the only key of the home.
AccountId account_or_own(const Session& session, const std::string& text);
Amount amount_argument(const std::string& text);
contracts::Role role_argument(const std::string& text);

/// Options for whose block signatures are trusted: --proposer, or --trust-height and --trust-hash; and the maximum age
/// of the block: --max-age.
struct Trusting {
    std::string proposer;
    std::uint64_t height = 0;
    std::string hash;
    std::int64_t max_age_s = 3'600;
};
std::shared_ptr<Trusting> add_trust_options(CLI::App& command, std::int64_t max_age_s = 3'600);
/// Returns what the options say, completed by what the home has pinned. Throws usage() and AnchorError.
Trust trust_of(const Session& session, const Trusting& trusting);

/// Options for signing: the key with --from and --password-file, the account that it acts for with --owner, the maximum
/// fee with --fee-max, and the options of Trusting.
struct Signing {
    std::string from;
    std::string owner{};  ///< OPR-2: the account to act for; empty: the key's own
    std::string password_file;
    std::string fee_max = "0.1 ASY";
    bool again = false;  ///< sign even if the same action may have been executed already
    std::shared_ptr<Trusting> trusting = std::make_shared<Trusting>();
};
std::shared_ptr<Signing> add_signing_options(CLI::App& command);
/// Decrypts the key and returns it. Throws Failure.
crypto::SecretKey unlock(const Session& session, const Signing& signing);
/// Returns the account that the key acts for: what --owner says, or its own.
AccountId actor_of(const Session& session, const Signing& signing, const crypto::SecretKey& key);

/// Returns the chain that the home has pinned, as proven by the node.
client::ProvenChain proven_chain(const Session& session, const Signing& signing, client::RpcClient& rpc);

/// Signs with the proven state, submits, waits for the block and checks that it contains the transaction. If the result
/// of an earlier transaction with the same action is unknown (Outbox), waits for that one instead of signing a new one.
/// Throws Failure kExitRejected if the transaction failed in its block.
client::TxResult send(
    const Session& session, const Signing& signing, const crypto::SecretKey& key, const contracts::Action& action
);
/// Likewise; then prints the result together with what `details` adds. Returns the exit code.
int send_and_print(
    const Session& session, const Signing& signing, const contracts::Action& action,
    const nlohmann::json& details = nlohmann::json::object()
);
/// Likewise, with a key that is unlocked already.
int send_and_print(
    const Session& session, const Signing& signing, const crypto::SecretKey& key, const contracts::Action& action,
    const nlohmann::json& details
);

/// Returns a line for people if the node began with a snapshot and lacks earlier history; else an empty string.
std::string begins_note(const nlohmann::json& answer);
/// Returns at most `limit` items of a listing, following cursors: {name: [...], "next_cursor": ..., "first_height":
/// ...}.
nlohmann::json list(
    client::RpcClient& rpc, const std::string& method, nlohmann::json params, const char* name, std::uint64_t limit
);

}  // namespace assay::cli
