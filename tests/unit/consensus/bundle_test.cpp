// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include <consensus/cometbft/bundle.hpp>
#include <consensus/cometbft/gap_room.hpp>
#include <consensus/cometbft/outbox.hpp>
#include <contracts/transaction/decoded.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

namespace assay::cometbft {
namespace {

using consensus::Admitted;
using solo::test::toy_key;
using solo::test::toy_sender;
using Parts = std::vector<std::shared_ptr<const Bytes>>;

std::shared_ptr<const Bytes> part(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

Admitted admitted(const std::shared_ptr<const Bytes>& bytes) {
    return {.hash = contracts::tx_hash(*bytes), .bytes = bytes};
}

/// Some bytes that no other call returns.
std::shared_ptr<const Bytes> fresh(std::size_t size) {
    static std::uint8_t number = 0;
    Bytes out(size, 7);
    out.front() = ++number;
    return part(std::move(out));
}

BundleError error_of(const Bytes& bytes) {
    const auto decoded = decode_bundle(bytes);
    REQUIRE_FALSE(decoded.has_value());
    return decoded.error();
}

Bytes hex(const char* text) { return *from_hex(text); }

// --- the encoding ----------------------------------------------------------------------------------------------

TEST_CASE("CMT-16: a bundle is the bytes that the protocol gives") {
    const Bytes bundle = encode_bundle({part({1, 2}), part({3})});
    CHECK(
        to_hex(bundle) ==
        "ff010200000002000000010201000000"
        "03"
    );
    CHECK(is_bundle(bundle));
    const auto parts = decode_bundle(bundle);
    REQUIRE(parts.has_value());
    CHECK(*parts == std::vector<Bytes>{{1, 2}, {3}});
    CHECK(bundle.size() == kBundleHeadBytes + 2 * kPartHeadBytes + 3);
}

TEST_CASE("CMT-16: what is no bundle is refused with a reason") {
    CHECK(error_of({}) == BundleError::kUndecodable);
    CHECK(error_of(hex("ff")) == BundleError::kUndecodable);
    CHECK(error_of(hex("000100000000")) == BundleError::kUndecodable);
    CHECK(error_of(hex("ff0200000000")) == BundleError::kVersion);
    CHECK(error_of(hex("ff0100000000")) == BundleError::kTooFew);
    CHECK(error_of(hex("ff01010000000100000003")) == BundleError::kTooFew);
    CHECK(error_of(hex("ff010200000002000000010201000000")) == BundleError::kUndecodable);
    CHECK(
        error_of(hex("ff01020000000200000001020100000003"
                     "00")) == BundleError::kUndecodable
    );
    CHECK(
        error_of(hex("ff01ffffffff02000000010201000000"
                     "03")) == BundleError::kUndecodable
    );
    CHECK(
        error_of(hex("ff0102000000"
                     "00000000"
                     "0100000003")) == BundleError::kBadPart
    );
    CHECK(error_of(Bytes(kBundleBytesMax + 1, kBundleTag)) == BundleError::kTooLarge);
}

TEST_CASE("CMT-16: a bundle holds no bundle") {
    const auto inner = part(encode_bundle({part({1}), part({2})}));
    CHECK(error_of(encode_bundle({part({3}), inner})) == BundleError::kBadPart);
}

TEST_CASE("CMT-16: no transaction begins like a bundle, and no bundle decodes as a transaction") {
    contracts::TxBody body{
        .chain_id = std::string(48, 'a'),
        .sender = toy_key(1).account(),
        .nonce = 0,
        .fee = {},
        .action = contracts::Transfer{.to = toy_sender(2), .amount = Amount{1}}};
    const Bytes tx = codec::encode(contracts::sign_tx(std::move(body), toy_key(1)));
    CHECK_FALSE(is_bundle(tx));
    const Bytes bundle = encode_bundle({part(tx), part(tx)});
    const auto decoded = contracts::decode_tx(bundle, contracts::tx_hash(bundle), contracts::Params{});
    REQUIRE_FALSE(decoded.has_value());
    CHECK(decoded.error() == contracts::TxError::kUndecodable);
}

// --- what this node sends --------------------------------------------------------------------------------------

TEST_CASE("CMT-18: one transaction is sent as it is, and several in a bundle in the order in which they came") {
    Outbox outbox;
    const Parts txs{fresh(100), fresh(100), fresh(100), fresh(100)};
    outbox.push(admitted(txs[0]));
    auto parcel = outbox.take();
    REQUIRE(parcel.has_value());
    CHECK(parcel->bytes == *txs[0]);
    for (const auto& tx : txs) {
        outbox.push(admitted(tx));
        outbox.push(admitted(tx));
    }
    CHECK(outbox.size() == 4);
    parcel = outbox.take();
    REQUIRE(parcel.has_value());
    CHECK(parcel->bytes == encode_bundle(txs));
    CHECK_FALSE(outbox.take().has_value());
}

TEST_CASE("CMT-18: what has left the mempool is not sent") {
    Outbox outbox;
    Parts txs{fresh(100), fresh(100), fresh(100)};
    for (const auto& tx : txs) {
        outbox.push(admitted(tx));
    }
    txs.front().reset();
    const auto parcel = outbox.take();
    REQUIRE(parcel.has_value());
    CHECK(parcel->bytes == encode_bundle({txs[1], txs[2]}));
    outbox.push(admitted(fresh(100)));
    CHECK_FALSE(outbox.take().has_value());
}

TEST_CASE("CMT-18: a bundle has its most bytes, and what does not fit in any is sent alone") {
    Outbox outbox;
    Parts txs;
    for (int i = 0; i < 20; ++i) {
        txs.push_back(fresh(3'000));
        outbox.push(admitted(txs.back()));
    }
    const auto large = fresh(kBundleBytesMax);
    outbox.push(admitted(large));
    const auto last = fresh(10);
    outbox.push(admitted(last));
    std::size_t parts = 0;
    for (int i = 0; i < 2; ++i) {
        const auto parcel = outbox.take();
        REQUIRE(parcel.has_value());
        CHECK(parcel->bytes.size() <= kBundleBytesMax);
        parts += decode_bundle(parcel->bytes)->size();
    }
    CHECK(parts == 20);
    CHECK(outbox.take()->bytes == *large);
    CHECK(outbox.take()->bytes == *last);
}

TEST_CASE("CMT-18: a parcel is this node's own until the engine has answered") {
    Outbox outbox;
    const auto tx = fresh(100);
    outbox.push(admitted(tx));
    const Hash256 hash = outbox.take()->hash;
    CHECK(hash == contracts::tx_hash(*tx));
    CHECK(outbox.is_own(hash));
    outbox.finish();
    CHECK_FALSE(outbox.is_own(hash));
}

TEST_CASE("CMT-18: a queue that nobody takes from holds little more than what waits") {
    Outbox outbox;
    const auto stays = fresh(100);
    outbox.push(admitted(stays));
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        const auto goes = part(codec::encode(i));
        outbox.push(admitted(goes));
    }
    CHECK(outbox.size() < 2'000);
    CHECK(outbox.take()->bytes == *stays);
}

// --- gaps ------------------------------------------------------------------------------------------------------

TEST_CASE("CMT-17: what waits for a predecessor is kept within limits and for a while") {
    GapRoom room;
    for (std::uint8_t nonce = 0; nonce < 200; ++nonce) {
        room.hold(toy_sender(1), nonce, {nonce});
        room.hold(toy_sender(1), nonce, {0});
    }
    CHECK(room.size() == GapRoom::kSenderTxsMax);
    CHECK(room.take(toy_sender(1), 7) == Bytes{7});
    CHECK_FALSE(room.take(toy_sender(1), 7).has_value());
    CHECK_FALSE(room.take(toy_sender(2), 8).has_value());
    REQUIRE(room.firsts().size() == 1);
    CHECK(room.firsts().front().nonce == 0);
    for (std::uint8_t sender = 2; sender < 50; ++sender) {
        for (std::uint8_t nonce = 0; nonce < 100; ++nonce) {
            room.hold(toy_sender(sender), nonce, {sender});
        }
    }
    CHECK(room.size() == GapRoom::kTxsMax);
    for (std::uint64_t i = 0; i < GapRoom::kBlocksMax; ++i) {
        room.note_block();
    }
    CHECK(room.size() == GapRoom::kTxsMax);
    room.note_block();
    CHECK(room.size() == 0);
    room.hold(toy_sender(1), 0, Bytes(GapRoom::kBytesMax));
    room.hold(toy_sender(1), 1, {1});
    CHECK(room.size() == 1);
}

}  // namespace
}  // namespace assay::cometbft
