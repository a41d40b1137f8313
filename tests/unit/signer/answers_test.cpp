// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <nlohmann/json.hpp>

#include <client/signer/answers.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/keys.hpp>

namespace assay::signer {
namespace {

using nlohmann::json;

constexpr Secret kSecret{1, 2, 3};

TransactionArguments transfer() {
    return {
        .secret = kSecret,
        .aux = {},
        .chain_id = "assay-test",
        .nonce = 7,
        .params = codec::encode(contracts::Params{}),
        .base_fee = Amount{50},
        .fee_max = Amount{100'000'000},
        .action = contracts::Transfer{.to = AccountId{{9}}, .amount = Amount{5}}};
}

json ask(Question question, const Bytes& arguments) {
    return json::parse(answer(static_cast<std::uint32_t>(question), arguments));
}
json sign(const TransactionArguments& arguments) { return ask(Question::kSignTransaction, codec::encode(arguments)); }

contracts::Tx decode_tx(const json& answer) {
    return codec::decode<contracts::Tx>(from_hex(answer.at("raw").get<std::string>()).value()).value();
}

}  // namespace

TEST_CASE("TX-3: a transaction of the signer is what the node's code would have signed") {
    const json said = sign(transfer());
    REQUIRE_MESSAGE(said.at("ok") == true, said.dump());
    const contracts::Tx tx = decode_tx(said);
    const auto key = crypto::SecretKey::from_bytes(kSecret).value();
    CHECK(tx.body.sender == key.account());
    CHECK(tx.body.chain_id == "assay-test");
    CHECK(tx.body.nonce == 7);
    CHECK(std::get<contracts::Transfer>(tx.body.action).amount == Amount{5});
    CHECK(tx.body.fee.grains == said.at("fee").get<std::uint64_t>());
    CHECK(codec::encode(tx) == codec::encode(contracts::sign_tx(tx.body, key)));
    CHECK(said.at("hash") == to_hex(contracts::tx_hash(codec::encode(tx)).view()));
    CHECK(crypto::verify_signature(key.account(), contracts::signing_hash(tx.body).view(), tx.signature));
}

TEST_CASE("the signer signs every action that is encoded already and a few by name") {
    TransactionArguments arguments = transfer();
    arguments.action = EncodedAction{codec::encode(contracts::Action(contracts::CompleteTask{}))};
    CHECK(sign(arguments).at("action") == "complete_task");
    arguments.action = contracts::Bond{.role = contracts::Role::kVerifier, .amount = Amount{1}};
    CHECK(std::get<contracts::Bond>(decode_tx(sign(arguments)).body.action).role == contracts::Role::kVerifier);
    arguments.action = contracts::Unbond{};
    CHECK(sign(arguments).at("action") == "unbond");
    arguments.action = contracts::CancelTask{};
    CHECK(sign(arguments).at("action") == "cancel_task");
}

TEST_CASE("OPR-2: the signer names the owner that the action is for") {
    TransactionArguments arguments = transfer();
    CHECK_FALSE(decode_tx(sign(arguments)).body.owner.has_value());
    arguments.action = EncodedAction{codec::encode(contracts::Action(contracts::CompleteTask{}))};
    arguments.owner = AccountId{{7}};
    const contracts::Tx tx = decode_tx(sign(arguments));
    CHECK(tx.body.owner == AccountId{{7}});
    CHECK(
        codec::encode(tx) == codec::encode(contracts::sign_tx(tx.body, crypto::SecretKey::from_bytes(kSecret).value()))
    );
}

TEST_CASE("the signer refuses what it should not sign and says why") {
    TransactionArguments arguments = transfer();
    arguments.fee_max = Amount{1};
    json said = sign(arguments);
    CHECK(said.at("ok") == false);
    CHECK(said.at("error") == "the transaction costs more than is allowed");
    CHECK(said.at("fee") > 1);
    arguments = transfer();
    arguments.secret = {};
    CHECK(sign(arguments).at("error").get<std::string>().find("the secret is not a key") == 0);
    arguments = transfer();
    arguments.action = EncodedAction{{0xff}};
    CHECK(sign(arguments).at("error") == "the action does not decode");
    arguments = transfer();
    arguments.params = {1};
    CHECK(sign(arguments).at("error").get<std::string>().find("the parameters do not decode") == 0);
    contracts::Params other;
    other.protocol_version += 1;
    arguments.params = codec::encode(other);
    CHECK(sign(arguments).at("error") == "the chain has another version of the protocol than this module");
    CHECK(json::parse(answer(99, {})).at("error") == "there is no such question");
    CHECK(ask(Question::kAccount, {1}).at("error") == "the arguments do not decode");
}

TEST_CASE("the signer tells the account of a secret and signs messages") {
    const auto key = crypto::SecretKey::from_bytes(kSecret).value();
    const json told = ask(Question::kAccount, codec::encode(AccountArguments{kSecret}));
    CHECK(told.at("address") == crypto::to_address(key.account()));
    CHECK(told.at("account") == to_hex(key.account().view()));
    CHECK(
        ask(Question::kAccountOf, codec::encode(crypto::to_address(key.account()))).at("account") == told.at("account")
    );
    CHECK(ask(Question::kAccountOf, codec::encode(std::string("assay1x"))).at("ok") == false);
    const Bytes message{1, 2};
    const json said = ask(Question::kSignMessage, codec::encode(MessageArguments{kSecret, {}, message}));
    CHECK(said.at("signature") == to_hex(key.sign(message).view()));
}

}  // namespace assay::signer
