// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/part_range.hpp>
#include <verifier/plan/plan.hpp>

/// What a message between ranks holds, piece by piece, so that whoever sends it can answer for each (STM-1).
namespace assay::plan {

/// Values of a block, row by row: of a node's output, of a tensor of the state, or of a part of a reduction.
struct Passage {
    canonical::Source source = canonical::Source::kNode;
    std::uint32_t index = 0;  ///< of the node, or of the tensor
    Block block;
    std::uint32_t width = 0;            ///< bytes of a value
    std::optional<IndexSet> positions;  ///< those that a part reduces, as slices_of_part() has them
    std::uint8_t hop = 0;               ///< 1: the sender may have been told it itself (STM-1)
    bool operator==(const Passage&) const = default;
};

/// A rectangle within one tile, and where the message has its values.
struct MessagePiece {
    canonical::Source source = canonical::Source::kNode;
    std::uint32_t index = 0;
    std::optional<canonical::PartRange> part;
    std::uint8_t hop = 0;
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    std::uint8_t rows = 0;
    std::uint8_t cols = 0;
    std::uint8_t width = 0;
    std::uint64_t offset = 0;  ///< of the first value
    std::uint64_t stride = 0;  ///< bytes from one row to the next
    static constexpr auto fields() {
        return Fields<
            &MessagePiece::source, &MessagePiece::index, &MessagePiece::part, &MessagePiece::hop, &MessagePiece::row,
            &MessagePiece::col, &MessagePiece::rows, &MessagePiece::cols, &MessagePiece::width, &MessagePiece::offset,
            &MessagePiece::stride>{};
    }
};
/// How many bytes of the message have all of the piece. Of pieces_of() each ends after those before it.
inline std::uint64_t end_of(const MessagePiece& piece) {
    return piece.offset + (piece.rows - 1U) * piece.stride + std::uint64_t{piece.cols} * piece.width;
}
/// The piece's values, row by row.
Bytes values_of(const MessagePiece& piece, ByteView message);

struct MessagePieces {
    std::vector<MessagePiece> pieces;
    /// What is zero whatever the values are: maxima of chunks of which a rank has no positions.
    std::vector<MessagePiece> zeros;
    std::uint64_t bytes = 0;  ///< of the message
};

enum class [[nodiscard]] MessageError : std::uint8_t{
    kBrokenPartial = 1,  ///< a part does not reduce whole partials of the tile, in runs that NUM-41 allows
};

/// Returns the pieces of a message that holds these passages one after the other.
Result<MessagePieces, MessageError> pieces_of(std::span<const Passage> message, const canonical::Graph& graph);

/// Positions of which a rank reduces each by itself.
struct PartSlice {
    std::uint32_t chunk = 0;  ///< of a product; else 0
    IndexSet positions;
};
/// Divides what a rank reduces of a node: by the chunks of a product, and with `is_stated` also into parts that a
/// statement can name (NUM-41). Without it there is one slice of another reduction, if any.
std::vector<PartSlice> slices_of_part(const canonical::Node& node, const IndexSet& depth, bool is_stated);

/// The first node whose parts are not whole partials, so that what ranks send of them cannot be stated; nothing if the
/// plan has none.
std::optional<std::uint32_t> unstatable_node(const Plan& plan, const canonical::Graph& graph);

/// Whether a rank other than 0 sends others blocks of the state before a step.
bool hands_on_state(const Plan& plan, const canonical::Graph& graph);

}  // namespace assay::plan
