// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/dispute/statement.hpp>
#include <verifier/plan/message.hpp>

/// What ranks show each other, at the end of a segment, of what they were told (STM-3).
namespace assay::group {

/// What a rank was told of one topic in a message.
struct HeardLine {
    std::uint32_t author = 0;
    std::uint64_t step = 0;
    Hash256 pieces;  ///< of the topic
    Hash256 said;    ///< said_of()
    static constexpr auto fields() {
        return Fields<&HeardLine::author, &HeardLine::step, &HeardLine::pieces, &HeardLine::said>{};
    }
};

/// A whole message.
struct ShownMessage {
    std::uint32_t author = 0;
    dispute::Statement statement;
    Signature signature;
    std::vector<plan::MessagePiece> pieces;
    std::vector<Hash256> values;
    static constexpr auto fields() {
        return Fields<
            &ShownMessage::author, &ShownMessage::statement, &ShownMessage::signature, &ShownMessage::pieces,
            &ShownMessage::values>{};
    }
};

}  // namespace assay::group
