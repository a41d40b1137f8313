// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <contracts/state/transaction.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <client/proven_chain.hpp>
#include <tools/cli/common/proof.hpp>
#include <tools/cli/common/session.hpp>

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
/// What the options say, and for the rest what the home has pinned. Throws usage() and AnchorError.
Trust trust_of(const Session& session, const Trusting& trusting);

/// Who signs: --from and --password-file; at most which fee: --fee-max; and on whose word: the options of Trusting.
struct Signing {
    std::string from;
    std::string password_file;
    std::string fee_max = "0.1 ASY";
    bool again = false;  ///< sign although the same action may have been executed
    std::shared_ptr<Trusting> trusting = std::make_shared<Trusting>();
};
std::shared_ptr<Signing> add_signing_options(CLI::App& command);
/// Opens the key; throws Failure.
crypto::SecretKey unlock(const Session& session, const Signing& signing);

/// The chain that the home has pinned, proven by the node.
client::ProvenChain proven_chain(const Session& session, const Signing& signing, client::RpcClient& rpc);

/// Signs on the proven state, submits, waits for the block and checks that it holds the transaction. While the
/// end of one with the same action is not known that one is followed instead of signing another. Throws Failure kExitRejected when the
/// transaction failed in its block.
client::TxResult send(
    const Session& session, const Signing& signing, const crypto::SecretKey& key, const contracts::Action& action
);
/// Likewise, and prints the outcome with what `details` adds.
int send_and_print(
    const Session& session, const Signing& signing, const contracts::Action& action,
    const nlohmann::json& details = nlohmann::json::object()
);

/// A line for people where a node that began with a snapshot lacks what was before it; else nothing.
std::string begins_note(const nlohmann::json& answer);
/// A listing's items, following cursors, at most `limit`: {name: [...], "next_cursor": ..., "first_height": ...}.
nlohmann::json list(
    client::RpcClient& rpc, const std::string& method, nlohmann::json params, const char* name, std::uint64_t limit
);

}  // namespace assay::cli
