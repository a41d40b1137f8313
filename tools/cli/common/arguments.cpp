// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/arguments.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <CLI/CLI.hpp>

#include <core/crypto/address.hpp>
#include <core/base/amount.hpp>
#include <core/keys/key_directory.hpp>
#include <tools/cli/common/outbox.hpp>
#include <core/keys/password.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kPageMax = 100;
constexpr std::chrono::seconds kSendTimeout{60};

/// The name that --from gives, or the only key there is.
std::string own_key(const Session& session, const std::string& given) {
    if (!given.empty()) {
        return given;
    }
    const auto names = crypto::KeyDirectory(session.home).list();
    if (names.size() != 1) {
        throw usage(
            names.empty() ? "there is no key in " + (session.home / "keys").string()
                          : "there are several keys: say which one",
            names.empty() ? "assay keys new NAME makes one" : "assay keys list shows them"
        );
    }
    return names.front();
}

}  // namespace

Failure usage(const std::string& message, const std::string& hint) {
    return {kExitUsage, "usage", message, hint.empty() ? json::object() : json{{"hint", hint}}};
}

AccountId decode_account(const Session& session, const std::string& text) {
    if (const auto id = fixed_from_hex<AccountId>(text)) {
        return *id;
    }
    if (const auto id = crypto::decode_address(text)) {
        return *id;
    }
    const crypto::KeyDirectory keys(session.home);
    if (keys.has(text)) {
        return keys.read(text).account;
    }
    throw usage("\"" + text + "\" is neither an address (assay1...), nor 64 hex digits, nor the name of a key");
}

AccountId account_or_own(const Session& session, const std::string& text) {
    return decode_account(session, own_key(session, text));
}

Amount amount_argument(const std::string& text) {
    const auto amount = decode_amount(text);
    if (!amount) {
        throw usage("\"" + text + "\": " + to_string(amount.error()));
    }
    return *amount;
}

contracts::Role role_argument(const std::string& text) {
    for (const auto role :
         {contracts::Role::kSolver, contracts::Role::kVerifier, contracts::Role::kWhistleblower,
          contracts::Role::kValidator}) {
        if (text == contracts::to_string(role)) {
            return role;
        }
    }
    throw usage("\"" + text + "\" is not a role: give solver, verifier or whistleblower");
}

std::shared_ptr<Trusting> add_trust_options(CLI::App& command, std::int64_t max_age_s) {
    auto out = std::make_shared<Trusting>();
    out->max_age_s = max_age_s;
    command.add_option(
        "--proposer", out->proposer, "Embedded engine: whose signature counts; default: the node's word"
    );
    auto* height = command.add_option("--trust-height", out->height, "CometBFT: the height of a block that you know");
    command
        .add_option(
            "--trust-hash", out->hash,
            "CometBFT: the hash of that block; default: the node's word for who the validators are is taken"
        )
        ->needs(height);
    command.add_option("--max-age", out->max_age_s, "Seconds ago that the state may have been signed; 0: any time")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    return out;
}

namespace {

/// What the options say and nothing else.
Trust said_trust(const Session& session, const Trusting& trusting) {
    Trust out;
    if (!trusting.proposer.empty()) {
        out.proposer = decode_account(session, trusting.proposer);
    }
    if (trusting.height != 0) {
        if (trusting.hash.empty()) {
            throw usage("--trust-height needs --trust-hash", "the hash of that block, from a source that you trust");
        }
        out.block = Trust::Block{trusting.height, decode_id<Hash256>(trusting.hash, "block")};
    }
    if (trusting.max_age_s != 0) {
        out.max_age_s = trusting.max_age_s;
    }
    return out;
}

}  // namespace

Trust trust_of(const Session& session, const Trusting& trusting) {
    return client::trust_by(client::read_anchor(client::anchor_file(session.home)), said_trust(session, trusting));
}

std::shared_ptr<Signing> add_signing_options(CLI::App& command) {
    auto signing = std::make_shared<Signing>();
    command.add_option("--from", signing->from, "The key that signs; needed when there are several");
    command.add_option(
        "--owner", signing->owner, "Act for this account, which has named the key's account as its operator"
    );
    command.add_option(
        "--password-file", signing->password_file,
        "File whose first line is the key's password; default: $ASSAY_PASSWORD, or asked for"
    );
    command.add_option("--fee-max", signing->fee_max, "The most that the transaction may cost in fees")
        ->capture_default_str();
    command.add_flag(
        "--again", signing->again,
        "Sign a new transaction, although an earlier one that does the same may have been executed"
    );
    signing->trusting = add_trust_options(command);
    return signing;
}

crypto::SecretKey unlock(const Session& session, const Signing& signing) {
    const std::string name = own_key(session, signing.from);
    const crypto::SealedKey sealed = crypto::KeyDirectory(session.home).read(name);
    const crypto::SecretText password = crypto::read_password(
        {.file = signing.password_file, .variable = "ASSAY_PASSWORD", .prompt = "Password for " + name, .twice = false}
    );
    const auto key = crypto::open_key(sealed, password.view());
    if (key) {
        return *key;
    }
    if (key.error() == crypto::KeystoreError::kWrongPassword) {
        throw Failure(kExitFailure, "wrong_password", "wrong password for " + name + ", or the key file was altered");
    }
    throw Failure(
        kExitConfig, "key_file",
        "the key file of " + name + " is not one that this version can open; import the key again from a copy"
    );
}

AccountId actor_of(const Session& session, const Signing& signing, const crypto::SecretKey& key) {
    return signing.owner.empty() ? key.account() : decode_account(session, signing.owner);
}

client::ProvenChain proven_chain(const Session& session, const Signing& signing, client::RpcClient& rpc) {
    client::Expected expected{.chain_id = {}, .genesis = {}, .trust = said_trust(session, *signing.trusting)};
    if (!session.chain_id.empty()) {
        expected.chain_id = session.chain_id;
    }
    if (!session.genesis_hash.empty()) {
        expected.genesis = decode_id<Hash256>(session.genesis_hash, "genesis");
    }
    return {rpc, client::anchor_file(session.home), expected};
}

namespace {

/// The transaction that carries `action`: the one that is not settled, or a new one.
client::SignedTx unsettled_or_new(
    const Session& session, const Signing& signing, const Outbox& outbox, client::RpcClient& rpc,
    const crypto::SecretKey& key, const contracts::Action& action, const client::SigningBase& base
) {
    outbox.forget_old(key.account(), base.nonce);
    if (auto tx = outbox.find(key.account(), base.owner, action)) {
        if (!signing.again) {
            session.progress(
                "transaction " + to_hex(tx->hash.view()) + " does the same: following it; --again signs another"
            );
            return *std::move(tx);
        }
        outbox.settle(*tx);
    }
    client::SignedTx tx = rpc.sign(key, action, base, amount_argument(signing.fee_max));
    outbox.keep(tx);
    return tx;
}

}  // namespace

client::TxResult send(
    const Session& session, const Signing& signing, const crypto::SecretKey& key, const contracts::Action& action
) {
    client::RpcClient rpc = session.rpc();
    session.progress(std::string("submitting ") + contracts::action_name(action) + " and waiting for its block ...");
    client::ProvenChain chain = proven_chain(session, signing, rpc);
    const Outbox outbox(session.home);
    client::SigningBase base = chain.base(key.account());
    if (!signing.owner.empty()) {
        base.owner = decode_account(session, signing.owner);
    }
    const client::SignedTx tx = unsettled_or_new(session, signing, outbox, rpc, key, action, base);
    if (tx.nonce >= base.nonce) {
        rpc.submit(tx);
    }
    client::TxResult result = rpc.await(tx, kSendTimeout);
    if (!chain.holds(result.height, tx.hash)) {
        throw Mismatch(
            "the node says that transaction " + to_hex(tx.hash.view()) + " is in block " +
            std::to_string(result.height.value) + ", and it is not"
        );
    }
    outbox.settle(tx);
    if (result.code != 0) {
        throw Failure(
            kExitRejected, "tx_failed",
            "transaction " + to_hex(result.hash.view()) + " failed in block " + std::to_string(result.height.value) +
                ": " + result.error,
            {{"hash", to_hex(result.hash.view())},
             {"height", result.height.value},
             {"tx_error", result.code},
             {"reason", result.error}}
        );
    }
    return result;
}

int send_and_print(
    const Session& session, const Signing& signing, const contracts::Action& action, const json& details
) {
    return send_and_print(session, signing, unlock(session, signing), action, details);
}

int send_and_print(
    const Session& session, const Signing& signing, const crypto::SecretKey& key, const contracts::Action& action,
    const json& details
) {
    const client::TxResult result = send(session, signing, key, action);
    json answer{
        {"hash", to_hex(result.hash.view())},
        {"height", result.height.value},
        {"action", contracts::action_name(action)}};
    answer.update(details);
    session.print(
        answer, std::string(contracts::action_name(action)) + " executed in block " +
                    std::to_string(result.height.value) + ", transaction " + to_hex(result.hash.view())
    );
    return kExitOk;
}

std::string begins_note(const json& answer) {
    const json first_height = answer.value("first_height", json());
    const std::uint64_t first = first_height.is_number_unsigned() ? first_height.get<std::uint64_t>() : 1;
    return first <= 1 ? "" : "\nthis node knows what happened from block " + std::to_string(first) + " on\n";
}

json list(client::RpcClient& rpc, const std::string& method, json params, const char* name, std::uint64_t limit) {
    json items = json::array();
    json next;
    json first_height;
    client::Listing listing(method);
    do {
        params["limit"] = std::clamp<std::uint64_t>(limit - items.size(), 1, kPageMax);
        json page = rpc.call(method, params);
        listing.count(page.at(name).size());
        for (json& item : page.at(name)) {
            items.push_back(std::move(item));
        }
        next = page.at("next_cursor");
        first_height = page.value("first_height", json());
        params["cursor"] = next;
    } while (!next.is_null() && items.size() < limit);
    return {{name, std::move(items)}, {"next_cursor", std::move(next)}, {"first_height", std::move(first_height)}};
}

}  // namespace assay::cli
