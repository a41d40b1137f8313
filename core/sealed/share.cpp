// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/share.hpp>

#include <array>

#include <core/crypto/random.hpp>

namespace assay::sealed {
namespace {

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

std::optional<Bytes> make_share(
    const TaskSecret& secret, const AccountId& reader, const crypto::EciesEntropy& entropy
) noexcept {
    return crypto::seal_to(reader, secret.scalar().bytes(), entropy);
}

std::optional<TaskSecret> open_share(const crypto::SecretKey& reader, const TaskKey& key, ByteView share) noexcept {
    if (share.size() != kShareBytes) {
        return std::nullopt;
    }
    return secret_in(crypto::open_with_key(reader, share), key);
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
    const bool is_right = secret_in(crypto::open_with_shared_point(evidence->point, share), context.key).has_value();
    return is_right ? ShareJudgement::kRight : ShareJudgement::kWrong;
}

}  // namespace assay::sealed
