// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/share.hpp>

#include <algorithm>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/sealed/sealed_state.hpp>

namespace assay::sealed {
namespace {

using testing::hash_numbered;
using testing::secret_numbered;

crypto::SecretKey reader_numbered(std::uint64_t number) {
    return crypto::SecretKey::from_bytes(hash_numbered(100 + number).view()).value();
}

crypto::EciesEntropy entropy_numbered(std::uint64_t number) {
    crypto::EciesEntropy out{.ephemeral = hash_numbered(200 + number).data, .nonce = {}};
    out.nonce[0] = static_cast<std::uint8_t>(number);
    return out;
}

ShareName name() {
    return {.chain_id = "assay-test", .task = hash_numbered(1), .to = AccountId{hash_numbered(2).data}};
}

TEST_CASE("SEA-23: nobody passes a share on as one for something else") {
    const TaskSecret secret = secret_numbered(1);
    const crypto::SecretKey reader = reader_numbered(1);
    for (std::uint64_t i = 0; i < 10; ++i) {  // ephemeral points of either parity
        const Bytes share = *make_share(secret, reader.account(), name(), entropy_numbered(i));
        CHECK(is_share_for(name(), share));
        const auto refuses = [&](auto change) {
            ShareName other = name();
            change(other);
            return !is_share_for(other, share);
        };
        CHECK(refuses([](ShareName& n) { n.chain_id = "other"; }));
        CHECK(refuses([](ShareName& n) { n.task = hash_numbered(3); }));
        CHECK(refuses([](ShareName& n) { n.to = AccountId{hash_numbered(3).data}; }));
        CHECK(refuses([](ShareName& n) { n.is_of_checkpoints = true; }));
        for (std::size_t at = 0; at < kShareBytes; at += 11) {
            Bytes altered = share;
            altered[at] ^= 1U;
            CHECK_FALSE(is_share_for(name(), altered));
        }
        CHECK_FALSE(is_share_for(name(), ByteView(share).first(kShareBytes - 1)));
    }
    // What the reader would reveal of a share of somebody else under another name opens that one: so it is no share.
    const Bytes theirs = *make_share(secret, reader.account(), name(), entropy_numbered(1));
    Bytes copied = theirs;
    const crypto::SecretKey thief = reader_numbered(3);
    const Signature signature = thief.sign(hash_numbered(9).view());
    std::copy(signature.data.begin(), signature.data.end(), copied.end() - 64);
    CHECK_FALSE(is_share_for(name(), copied));
    CHECK_FALSE(is_share_for(name(), {}));
}

TEST_CASE("SEA-20: a share gives its reader the task's secret and nobody else") {
    const TaskSecret secret = secret_numbered(1);
    for (std::uint64_t i = 0; i < 10; ++i) {  // readers whose points have either parity
        const crypto::SecretKey reader = reader_numbered(i);
        const Bytes share = *make_share(secret, reader.account(), name(), entropy_numbered(i));
        CHECK(share.size() == kShareBytes);
        const auto opened = open_share(reader, secret.key(), share);
        REQUIRE(opened.has_value());
        CHECK(opened->scalar().bytes() == secret.scalar().bytes());
        CHECK_FALSE(open_share(reader_numbered(50), secret.key(), share).has_value());
        CHECK_FALSE(open_share(reader, secret_numbered(2).key(), share).has_value());
        CHECK_FALSE(open_share(reader, secret.key(), ByteView(share).first(share.size() - 1)).has_value());
    }
    CHECK_FALSE(make_share(secret, AccountId{}, name(), entropy_numbered(1)).has_value());
}

TEST_CASE("SEA-21: the revealed point is shown by the reader alone and opens this share alone") {
    const TaskSecret secret = secret_numbered(1);
    const crypto::SecretKey reader = reader_numbered(1);
    const ShareContext context{.key = secret.key(), .reader = reader.account()};
    const Bytes share = *make_share(secret, reader.account(), name(), entropy_numbered(1));
    const auto evidence = make_wrong_share(reader, share, {});
    REQUIRE(evidence.has_value());
    CHECK(judge_share(context, share, evidence) == ShareJudgement::kRight);
    CHECK(judge_share(context, share, std::nullopt) == ShareJudgement::kNotProven);
    // Another point, another proof, or what somebody else can show of the share.
    auto altered = *evidence;
    altered.point = crypto::generator();
    CHECK(judge_share(context, share, altered) == ShareJudgement::kNotProven);
    altered = *evidence;
    altered.proof.data[40] ^= 1U;
    CHECK(judge_share(context, share, altered) == ShareJudgement::kNotProven);
    CHECK(judge_share(context, share, make_wrong_share(reader_numbered(2), share, {})) == ShareJudgement::kNotProven);
    const Bytes again = *make_share(secret, reader.account(), name(), entropy_numbered(2));
    CHECK(judge_share(context, again, evidence) == ShareJudgement::kNotProven);
    CHECK(codec::encode(*evidence).size() == 97);
}

TEST_CASE("SEA-22: a share with another secret garbage or no point is its maker's fault") {
    const TaskSecret secret = secret_numbered(1);
    for (std::uint64_t i = 0; i < 10; ++i) {
        const crypto::SecretKey reader = reader_numbered(i);
        const ShareContext context{.key = secret.key(), .reader = reader.account()};
        const auto judged = [&](const Bytes& share) {
            return judge_share(context, share, make_wrong_share(reader, share, {}));
        };
        CHECK(judged(*make_share(secret, reader.account(), name(), entropy_numbered(i))) == ShareJudgement::kRight);
        CHECK(
            judged(*make_share(secret_numbered(2), reader.account(), name(), entropy_numbered(i))) ==
            ShareJudgement::kWrong
        );
        CHECK(
            judged(*make_share(secret, reader_numbered(60).account(), name(), entropy_numbered(i))) ==
            ShareJudgement::kWrong
        );
        // Not a secret at all.
        CHECK(
            judged(*crypto::seal_to(reader.account(), Bytes(32, 0xff), entropy_numbered(i))) == ShareJudgement::kWrong
        );
        // What has another length, or does not begin with a point, needs no evidence.
        const Bytes longer = *crypto::seal_to(reader.account(), Bytes(33), entropy_numbered(i));
        CHECK(judge_share(context, longer, std::nullopt) == ShareJudgement::kWrong);
        CHECK(judge_share(context, Bytes(kShareBytes), std::nullopt) == ShareJudgement::kWrong);
        CHECK(judge_share(context, {}, std::nullopt) == ShareJudgement::kWrong);
        CHECK_FALSE(make_wrong_share(reader, Bytes(kShareBytes), {}).has_value());
        for (std::size_t at = 0; at < kShareBytes - 64; at += 13) {
            Bytes share = *make_share(secret, reader.account(), name(), entropy_numbered(i));
            share[at] ^= 1U;
            CHECK(judged(share) == ShareJudgement::kWrong);
        }
    }
    CHECK(judge_share({.key = secret.key(), .reader = {}}, {}, std::nullopt) == ShareJudgement::kNoReader);
}

}  // namespace
}  // namespace assay::sealed
