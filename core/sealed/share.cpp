// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/share.hpp>

#include <algorithm>
#include <array>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/random.hpp>

namespace assay::sealed {
namespace {

constexpr std::size_t kMessageBytes = kShareBytes - Signature::kSizeBytes;

/// The part of a share that ECIES has made.
ByteView message_of(ByteView share) { return share.first(std::min(share.size(), kMessageBytes)); }

/// The secret in an opened share, if it is that of `key`.
std::optional<TaskSecret> secret_in(std::optional<Bytes> plaintext, const TaskKey& key) {
    if (!plaintext) {
        return std::nullopt;
    }
    const auto secret = TaskSecret::from_bytes(*plaintext);
    crypto::wipe(*plaintext);
    return secret && secret->key() == key ? std::optional(*secret) : std::nullopt;
}

}  // namespace

Hash256 share_digest(const ShareName& name, ByteView message) {
    static const crypto::TaggedHash kTag("assay/share");
    return kTag(codec::encode(name), message);
}

std::optional<Bytes> make_share(
    const TaskSecret& secret, const AccountId& reader, const ShareName& name, const crypto::EciesEntropy& entropy
) {
    auto share = crypto::seal_to(reader, secret.scalar().bytes(), entropy);
    const auto ephemeral = crypto::SecretKey::from_bytes(entropy.ephemeral);
    if (!share || !ephemeral) {
        return std::nullopt;
    }
    append(*share, ephemeral->sign(share_digest(name, *share).view()).view());
    return share;
}

bool is_share_for(const ShareName& name, ByteView share) {
    const auto point = crypto::ephemeral_point(share);
    if (share.size() != kShareBytes || !point) {
        return false;
    }
    AccountId signer;
    std::copy_n(point->data.begin() + 1, signer.data.size(), signer.data.begin());
    Signature signature;
    std::copy_n(share.begin() + kMessageBytes, signature.data.size(), signature.data.begin());
    return crypto::verify_signature(signer, share_digest(name, message_of(share)).view(), signature);
}

std::optional<TaskSecret> open_share(const crypto::SecretKey& reader, const TaskKey& key, ByteView share) noexcept {
    if (share.size() != kShareBytes) {
        return std::nullopt;
    }
    return secret_in(crypto::open_with_key(reader, message_of(share)), key);
}

std::optional<WrongShare> make_wrong_share(
    const crypto::SecretKey& reader, ByteView share, const std::array<std::uint8_t, 32>& aux
) noexcept {
    const auto base = crypto::ephemeral_point(share);
    const auto shared = crypto::shared_point(reader, share);
    if (!base || !shared) {
        return std::nullopt;
    }
    const crypto::SecretKey even = crypto::with_even_y(reader);
    const auto proof = crypto::prove_equal_logs(even, *base, aux, even.account().view());
    return proof ? std::optional(WrongShare{.point = *shared, .proof = *proof}) : std::nullopt;
}

ShareJudgement judge_share(
    const ShareContext& context, ByteView share, const std::optional<WrongShare>& evidence
) noexcept {
    const auto reader = crypto::lift_x(context.reader.view());
    if (!reader) {
        return ShareJudgement::kNoReader;
    }
    const auto ephemeral = crypto::ephemeral_point(share);
    if (share.size() != kShareBytes || !ephemeral) {
        return ShareJudgement::kWrong;
    }
    if (!evidence) {
        return ShareJudgement::kNotProven;
    }
    const crypto::EqualLogs statement{.key = *reader, .base = *ephemeral, .product = evidence->point};
    if (!crypto::verify_equal_logs(statement, evidence->proof, context.reader.view())) {
        return ShareJudgement::kNotProven;
    }
    const bool is_right =
        secret_in(crypto::open_with_shared_point(evidence->point, message_of(share)), context.key).has_value();
    return is_right ? ShareJudgement::kRight : ShareJudgement::kWrong;
}

}  // namespace assay::sealed
