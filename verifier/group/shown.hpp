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

/// One message that a rank was told, without what it says.
struct HeardLine {
    std::uint32_t author = 0;
    std::uint64_t step = 0;
    Hash256 pieces;
    Hash256 root;
    static constexpr auto fields() {
        return Fields<&HeardLine::author, &HeardLine::step, &HeardLine::pieces, &HeardLine::root>{};
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
