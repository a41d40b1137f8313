// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/topics.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/group/ledger.hpp>

namespace assay::group {

std::vector<Topic> topics_of(const plan::MessagePieces& message) {
    using Subject = std::tuple<canonical::Source, std::uint32_t, bool, std::uint8_t>;
    std::map<Subject, std::map<Bytes, std::vector<std::size_t>>> subjects;  // by what a piece is
    for (std::size_t i = 0; i < message.pieces.size(); ++i) {
        const plan::MessagePiece& piece = message.pieces[i];
        const Subject subject(piece.source, piece.index, piece.part.has_value(), piece.hop);
        subjects[subject][codec::encode(piece_of(piece, {}))].push_back(i);
    }
    std::vector<Topic> out;
    for (const auto& [subject, pieces] : subjects) {
        Topic topic;
        Bytes all;
        for (const auto& [piece, numbers] : pieces) {
            append(all, piece);
            topic.order.push_back(numbers.front());
            for (std::size_t i = 1; i < numbers.size(); ++i) {
                topic.again.emplace_back(numbers[i], numbers.front());
            }
        }
        topic.pieces = crypto::sha256(all);
        out.push_back(std::move(topic));
    }
    return out;
}

Hash256 said_of(const Topic& topic, const std::vector<Hash256>& values) {
    Bytes all;
    all.reserve(topic.order.size() * Hash256::kSizeBytes);
    for (const std::size_t piece : topic.order) {
        append(all, values[piece].view());
    }
    return crypto::sha256(all);
}

bool contradicts_itself(const Topic& topic, const std::vector<Hash256>& values) {
    return std::any_of(topic.again.begin(), topic.again.end(), [&](const auto& again) {
        return values[again.first] != values[again.second];
    });
}

}  // namespace assay::group
