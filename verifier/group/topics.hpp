// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/plan/message.hpp>

namespace assay::group {

/// What a message says of one node's output, of its parts, or of one tensor. Ranks are told the same pieces of it in
/// messages that differ otherwise, in another order, or more than once.
struct Topic {
    Hash256 pieces;                  ///< of what they are, each once and in one order, without their values
    std::vector<std::size_t> order;  ///< their numbers in the message, in that order; of equal ones the first
    /// Pieces that the message has had already: their numbers, and of the first one each.
    std::vector<std::pair<std::size_t, std::size_t>> again;
};
/// Each piece of the message is of one of them.
std::vector<Topic> topics_of(const plan::MessagePieces& message);

/// What a message with these hashes of values, one for each piece, says of the topic.
Hash256 said_of(const Topic& topic, const std::vector<Hash256>& values);
/// Whether it says two things of one of the topic's pieces.
bool contradicts_itself(const Topic& topic, const std::vector<Hash256>& values);

/// The topics of messages, each of which is many ranks' and steps' and is looked at once.
class TopicsByMessage {
  public:
    const std::vector<Topic>& of(const std::shared_ptr<const plan::MessagePieces>& message) {
        const auto [topics, is_new] = topics_.try_emplace(message);
        if (is_new) {
            topics->second = topics_of(*message);
        }
        return topics->second;
    }
    void clear() { topics_.clear(); }

  private:
    std::map<std::shared_ptr<const plan::MessagePieces>, std::vector<Topic>> topics_;
};

}  // namespace assay::group
