// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/signatures.hpp>

#include <doctest/doctest.h>

#include <core/crypto/keys.hpp>
#include <contracts/chain/chain.hpp>
#include <contracts/chain/router.hpp>

using namespace assay;
using namespace assay::node;

TEST_CASE("ENC-2: a verifier that knows the signer says what one without memory says") {
    const auto one = crypto::SecretKey::generate();
    const auto two = crypto::SecretKey::generate();
    const Bytes message(168, 7);
    const Signature good = one.sign(message);
    Signature forged = good;
    forged.data.back() ^= 1U;
    AccountId no_point;
    no_point.data.fill(0xFF);
    const SignatureVerifier verifier{};
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        CHECK_FALSE(verifier(one.account(), message, forged));
        CHECK_FALSE(verifier(two.account(), message, good));
        CHECK_FALSE(verifier(no_point, message, good));
        CHECK(verifier(one.account(), message, good));
        CHECK(verifier(two.account(), message, two.sign(message)));
        CHECK_FALSE(verifier(one.account(), Bytes(168, 8), good));
    }
}

TEST_CASE("what was verified once is believed until a block has had it, and everything else is verified") {
    const auto key = crypto::SecretKey::generate();
    const SignatureVerifier verifier{};
    DecodedTxs known;
    std::vector<Bytes> txs;
    for (std::uint64_t nonce = 0; nonce < 100; ++nonce) {
        contracts::TxBody body{
            .chain_id = "toy",
            .sender = key.account(),
            .nonce = nonce,
            .fee = {1},
            .action = contracts::Transfer{.to = key.account(), .amount = {1}}};
        contracts::Tx tx = contracts::sign_tx(std::move(body), key);
        if (nonce % 3 == 0) {
            tx.signature.data.front() ^= 1U;
        }
        txs.push_back(codec::encode(tx));
    }
    // Of the forged ones, some are claimed to have been verified: that is what is believed.
    const contracts::Params params;
    const auto believe = [](const AccountId&, ByteView, const Signature&) { return true; };
    const auto hashes = contracts::tx_hashes(txs);
    for (std::size_t i = 0; i < txs.size(); i += 2) {
        known.add(contracts::make_entry(txs[i], hashes[i], params, believe).decoded.value());
    }
    const auto held = known.find(hashes[0]);
    const auto first = decode_block(txs, hashes, params, verifier, known);
    CHECK(first[0].decoded.value() == held);
    for (std::size_t i = 0; i < txs.size(); ++i) {
        CHECK((known.find(hashes[i]) != nullptr) == (*first[i].decoded)->is_signed);
    }
    known.forget(hashes);
    CHECK(known.find(hashes[0]) == nullptr);
    const auto second = decode_block(txs, hashes, params, verifier, known);
    for (std::size_t i = 0; i < txs.size(); ++i) {
        CAPTURE(i);
        CHECK((*first[i].decoded)->is_signed == (i % 2 == 0 || i % 3 != 0));
        CHECK((*second[i].decoded)->is_signed == (i % 3 != 0));
    }
}

TEST_CASE("a block's bytes that are no transaction are an entry with the reason") {
    const SignatureVerifier verifier{};
    DecodedTxs known;
    contracts::Params params;
    const std::vector<Bytes> txs{Bytes(40, 7), Bytes(params.tx_size_max + 1, 0)};
    const auto entries = decode_block(txs, contracts::tx_hashes(txs), params, verifier, known);
    CHECK(entries[0].decoded.error() == contracts::TxError::kUndecodable);
    CHECK(entries[1].decoded.error() == contracts::TxError::kTooLarge);
    CHECK(entries[1].size_bytes == params.tx_size_max + 1);
}

TEST_CASE("what of an action does not depend on the state is checked once, and only of signed transactions") {
    const auto key = crypto::SecretKey::generate();
    const auto encode = [&](const contracts::Action& action, bool is_signed) {
        contracts::TxBody body{.chain_id = "toy", .sender = key.account(), .nonce = 0, .fee = {1}, .action = action};
        contracts::Tx tx = contracts::sign_tx(std::move(body), key);
        tx.signature.data.front() ^= is_signed ? 0U : 1U;
        return codec::encode(tx);
    };
    const contracts::Action sound = contracts::Transfer{.to = key.account(), .amount = {1}};
    const contracts::Action unsound = contracts::ShareKeys{};
    const std::vector<Bytes> txs{
        encode(sound, true), encode(unsound, true), encode(sound, false), encode(unsound, false)};
    DecodedTxs known;
    const contracts::Params params;
    const auto entries = decode_block(txs, contracts::tx_hashes(txs), params, SignatureVerifier{}, known);
    CHECK((*entries[0].decoded)->is_checked);
    for (std::size_t i = 1; i < txs.size(); ++i) {
        CAPTURE(i);
        CHECK_FALSE((*entries[i].decoded)->is_checked);
    }
    CHECK((*entries[1].decoded)->is_signed);
    CHECK_FALSE(contracts::check_action_stateless(**entries[1].decoded));
}
