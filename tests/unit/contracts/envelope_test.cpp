// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/params/gas.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

const Action kPay = Transfer{make_actor(5).id, {kCoin}};

std::uint64_t nonce_of(const Chain& chain, const Actor& actor) { return get_account(chain.view, actor.id).nonce; }

Result<void, TxError> check_bytes(ByteView tx, const Params& params) {
    TRY_ASSIGN(const DecodedTx decoded, decode_tx(tx, tx_hash(tx), params));
    return check_stateless(decoded, kChainId);
}

}  // namespace

TEST_CASE("TX-1: bytes that are not one transaction are refused and change nothing") {
    Chain chain;
    const Bytes good = chain.make_tx(chain.submitter, kPay);
    Bytes longer = good;
    longer.push_back(0);
    Bytes bad_tag = good;
    bad_tag[4 + std::string(kChainId).size() + 32 + 8 + 8] = 99;
    const std::vector<Bytes> broken{{}, Bytes(good.begin(), good.end() - 1), longer, bad_tag};
    for (const Bytes& bytes : broken) {
        const BlockOutcome& outcome = chain.run_block({bytes});
        CHECK(outcome.receipts[0].code == static_cast<std::uint8_t>(TxError::kUndecodable));
        CHECK(outcome.receipts[0].action == "");
        CHECK(outcome.changes.empty());
    }
}

TEST_CASE("TX-1: no truncation and no flipped bit of any action passes or crashes") {
    Chain chain;
    const std::vector<Action> actions{
        kPay,
        SubmitTask{make_spec()},
        RevealMove{{}, 0, {hash_of("a")}},
        SelectMove{{}, 1, {2, dispute::NodeOpening{}}},
        ProveMove{{}, dispute::Proof{}},
        AttestAvailability{
            {}, dispute::StateOpening{1, 2, {}, {canonical::make_tile(canonical::DType::kF32), {hash_of("b")}, {}}}},
        DeclareDivergence{{}, 3, hash_of("c"), {}, {1, 2, {}, {canonical::make_tile(canonical::DType::kF32), {}, {}}}}};
    for (const Action& action : actions) {
        const Bytes good = chain.make_tx(chain.submitter, action);
        const std::size_t step = std::max<std::size_t>(1, good.size() / 300);
        for (std::size_t i = 0; i < good.size(); i += step) {
            CHECK_FALSE(check_bytes(ByteView(good).first(i), chain.params).has_value());
            Bytes flipped = good;
            flipped[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
            CHECK_FALSE(check_bytes(flipped, chain.params).has_value());
        }
        CHECK(codec::encode(codec::decode<Tx>(good).value()) == good);
    }
}

TEST_CASE("TX-2: a transaction beyond the size limit is refused before it is decoded") {
    Chain chain;
    const Bytes large(chain.params.tx_size_max + 1, 0);
    CHECK(check_bytes(large, chain.params).error() == TxError::kTooLarge);
    CHECK(chain.run_block({large}).receipts[0].code == static_cast<std::uint8_t>(TxError::kTooLarge));
    CHECK(chain.last.changes.empty());
}

TEST_CASE("TX-3: another chain's transaction and a wrong signature are refused and change nothing") {
    Chain chain;
    const TxBody body{"other-1", chain.submitter.id, 0, {kCoin}, kPay};
    chain.run_block({codec::encode(sign_tx(body, chain.submitter.key))});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kWrongChain));
    CHECK(chain.last.changes.empty());
    const TxBody ours{kChainId, chain.submitter.id, 0, {kCoin}, kPay};
    chain.run_block({codec::encode(sign_tx(ours, chain.stranger.key))});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kBadSignature));
    CHECK(chain.last.receipts[0].sender == AccountId{});
    CHECK(chain.last.changes.empty());
}

TEST_CASE("TX-3: whether a transaction is signed depends on its bytes alone, and a block believes what was found") {
    Chain chain;
    const TxBody body{"other-1", chain.submitter.id, 0, {kCoin}, kPay};
    const Bytes elsewhere = codec::encode(sign_tx(body, chain.submitter.key));
    const auto is_signed = [](const Bytes& tx, const Params& params) {
        const BlockEntry entry = make_entry(tx, tx_hash(tx), params, crypto::verify_signature);
        return entry.decoded.has_value() && (*entry.decoded)->is_signed;
    };
    CHECK(is_signed(elsewhere, chain.params));
    const BlockContext context{.height = {1}, .time_ms = 1, .block_hash = {}, .proposer = {}};
    const auto apply = [&](const Bytes& tx) {
        return TxError{apply_block(chain.view, kChainId, context, {tx}).receipts.at(0).code};
    };
    const auto apply_believed = [&](const Bytes& tx) {
        const auto believe = [](const AccountId&, ByteView, const Signature&) { return true; };
        const std::vector<BlockEntry> entries{make_entry(tx, tx_hash(tx), chain.params, believe)};
        return TxError{apply_block(chain.view, kChainId, context, entries).receipts.at(0).code};
    };
    CHECK(apply_believed(elsewhere) == TxError::kWrongChain);

    const Bytes good = chain.make_tx(chain.submitter, kPay);
    CHECK(is_signed(good, chain.params));
    for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
        Bytes forged = good;
        forged[at] ^= 1U;
        CHECK_FALSE(is_signed(forged, chain.params));
        CHECK(apply(forged) != TxError{});
    }
    Bytes forged = good;
    forged.back() ^= 1U;
    CHECK(apply(forged) == TxError::kBadSignature);
    CHECK(apply_believed(forged) == TxError{});
    Params small = chain.params;
    small.tx_size_max = static_cast<std::uint32_t>(good.size() - 1);
    CHECK_FALSE(is_signed(good, small));
}

TEST_CASE("TX-4: a receipt names its transaction by the hash of its bytes") {
    Chain chain;
    const Bytes bytes = chain.make_tx(chain.submitter, kPay);
    const Receipt receipt = chain.run_block({bytes}).receipts[0];
    CHECK(receipt.tx == crypto::sha256(bytes));
    CHECK(receipt.action == "transfer");
    CHECK(receipt.sender == chain.submitter.id);
}

TEST_CASE("TX-5: a used nonce and a gap are refused and change nothing") {
    Chain chain;
    const Bytes first = chain.make_tx(chain.submitter, kPay);
    CHECK(chain.run_block({first}).receipts[0].code == 0);
    chain.run_block({first});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kNonceTooLow));
    CHECK(chain.last.changes.empty());
    chain.run_block({chain.make_tx(chain.submitter, kPay, 2, {kCoin})});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kNonceTooHigh));
    CHECK(chain.last.changes.empty());
    const BlockOutcome& both = chain.run_block(
        {chain.make_tx(chain.submitter, kPay, 1, {kCoin}), chain.make_tx(chain.submitter, kPay, 2, {kCoin})}
    );
    CHECK(both.receipts[0].code == 0);
    CHECK(both.receipts[1].code == 0);
}

TEST_CASE("TX-6: fields that no state could make valid are refused") {
    Chain chain;
    const auto refuses = [&](const Action& action) {
        return chain.fail(chain.submitter, action) == TxError::kFieldOutOfRange;
    };
    CHECK(refuses(Transfer{chain.stranger.id, {0}}));
    CHECK(refuses(Bond{Role::kSolver, {0}}));
    CHECK(refuses(Unbond{Role::kSolver, {0}}));
    CHECK(refuses(PostCheckpoint{{}, kMaxSegments + 1, {}, {}}));
    CHECK(refuses(PostCheckpoint{{}, 0, {}, "line\nbreak"}));
    CHECK(refuses(CommitVerdict{{}, kMaxSegments + 2, {}}));
    CHECK(refuses(PublishVerdict{{}, kMaxSegments + 2, {}}));
    CHECK(refuses(DiscloseVerdict{{}, kMaxSegments + 2, {}}));
    CHECK(refuses(ChallengeVerdict{{}, kMaxSegments + 2, {}}));
    CHECK(refuses(PublishProfile{}));
    CHECK(refuses(ChallengeProfile{{}, {}, Role::kVerifier, ProfilePart::kReplayed, kMaxProfileSegments + 1, {}}));
    CHECK(refuses(OpenDispute{{}, 0, Role::kSolver}));
    CHECK(refuses(RevealMove{{}, 0, {}}));
    CHECK(refuses(RevealMove{{}, 0, std::vector<Hash256>(dispute::kMaxChildren + 1)}));
    CHECK(refuses(SelectMove{{}, 0, {dispute::kMaxChildren + 1, {}}}));
    CHECK(refuses(AttestAvailability{}));
    CHECK(refuses(DeclareDivergence{}));
}

TEST_CASE("TX-7: a fee below gas times base fee and one that cannot be paid are refused and change nothing") {
    Chain chain;
    const std::uint64_t gas = gas_of_bytes(chain.make_tx(chain.submitter, kPay), chain.params);
    const std::uint64_t needed = chain.params.gas_price_min.grains * gas;
    chain.run_block({chain.make_tx(chain.submitter, kPay, 0, {needed - 1})});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kFeeTooLow));
    CHECK_FALSE(chain.last.receipts[0].is_charged);
    CHECK(chain.last.changes.empty());
    chain.run_block({chain.make_tx(chain.pauper, kPay, 0, {needed})});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kCannotPayFee));
    CHECK(chain.last.changes.empty());
    chain.run_block({chain.make_tx(chain.submitter, kPay, 0, {needed})});
    CHECK(chain.last.receipts[0].code == 0);
    CHECK(chain.last.receipts[0].is_charged);
    CHECK(get_supply(chain.view).treasury.grains == needed);
    CHECK(get_supply(chain.view).burned.grains == 0);
    CHECK(chain.balance(chain.submitter) == kRich - kCoin - needed);
}

TEST_CASE("TX-8: a transaction that fails costs its fee and its nonce, nothing else") {
    Chain chain;
    const Action too_much = Transfer{chain.stranger.id, {2 * kRich}};
    chain.run_block({chain.make_tx(chain.submitter, too_much, 0, {kCoin})});
    CHECK(chain.last.receipts[0].code == static_cast<std::uint8_t>(TxError::kInsufficientBalance));
    CHECK(chain.balance(chain.submitter) == kRich - kCoin);
    CHECK(nonce_of(chain, chain.submitter) == 1);
    CHECK(chain.last.changes.size() == 2);
}

TEST_CASE("TX-9: a mempool check says what execution would, at the nonce it is asked about") {
    Chain chain;
    const auto check = [&](const Action& action, std::uint64_t nonce, std::uint64_t expected) {
        const Tx tx = sign_tx({kChainId, chain.submitter.id, nonce, {kCoin}, action}, chain.submitter.key);
        const Bytes bytes = codec::encode(tx);
        const DecodedTx decoded = decode_tx(bytes, tx_hash(bytes), chain.params).value();
        return check_tx(chain.view, chain.params, decoded, expected, Height{1});
    };
    CHECK(check(kPay, 0, 0).has_value());
    CHECK(check(kPay, 1, 1).has_value());
    CHECK(check(kPay, 1, 0).error() == TxError::kNonceTooHigh);
    CHECK(check(kPay, 0, 1).error() == TxError::kNonceTooLow);
    CHECK(check(Transfer{chain.stranger.id, {kRich}}, 0, 0).error() == TxError::kInsufficientBalance);
    CHECK(check(CompleteTask{}, 0, 0).error() == TxError::kTaskUnknown);
}
