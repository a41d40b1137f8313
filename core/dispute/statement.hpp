// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/opening.hpp>

namespace assay::crypto {
class TaggedHash;
}

/// What members of a group tell each other while they compute a step together (STM rules). A *statement* says what
/// values of the task's one true execution are, from the state at the start of its segment on. So it is right or wrong
/// whatever else was told and however the step was divided, and whoever signed it answers for it.
namespace assay::dispute {

/// Values of a rectangle within one tile: of the output of a node of the step, of a tensor of the state before the
/// step, or what a part has of a node's output. The values themselves are told beside it: who was told can keep this
/// instead.
struct Piece {
    canonical::Source source = canonical::Source::kNode;
    std::uint32_t index = 0;  ///< of the node, or of the tensor
    std::optional<canonical::PartRange> part;
    std::uint8_t hop = 0;   ///< 0: its author has computed it, or begins the segment with it; 1: it may have been told
    std::uint32_t row = 0;  ///< in the tensor
    std::uint32_t col = 0;
    std::uint8_t rows = 0;
    std::uint8_t cols = 0;
    std::uint8_t width = 0;  ///< bytes of a value
    Hash256 values;          ///< values_hash
    bool operator==(const Piece&) const = default;
    static constexpr auto fields() {
        return Fields<
            &Piece::source, &Piece::index, &Piece::part, &Piece::hop, &Piece::row, &Piece::col, &Piece::rows,
            &Piece::cols, &Piece::width, &Piece::values>{};
    }
};
/// STM-1: whether the piece is a rectangle within one tile, of values of 1 to 8 bytes, and its part, if any, has the
/// form of one.
bool is_well_formed(const Piece& piece) noexcept;
/// STM-1: "assay/values" over the values row by row, little-endian: of sums of a part the low `width` bytes.
Hash256 values_hash(ByteView values) noexcept;
const crypto::TaggedHash& values_tag() noexcept;
/// STM-1: "assay/piece" over Borsh(Piece).
Hash256 piece_leaf(const Piece& piece) noexcept;

/// STM-9: what is stated depends only on what comes before it in this order: by step, the state before its nodes, parts
/// before what they are parts of, and what was computed before what was handed on.
struct StatedOrder {
    std::uint64_t step = 0;
    bool is_output = false;
    std::uint32_t index = 0;
    bool is_whole = false;
    std::uint8_t hop = 0;
    auto operator<=>(const StatedOrder&) const = default;
};
StatedOrder order_of(std::uint64_t step, const Piece& piece) noexcept;

/// What a member signs: pieces of one step.
struct Statement {
    Hash256 task;
    Hash256 before;   ///< state root at the start of the segment
    Hash256 session;  ///< a run of the segment, in which nobody computes anything twice (STM-3)
    std::uint64_t step = 0;
    std::uint32_t pieces = 0;
    Hash256 root;  ///< Merkle root of the pieces' leaves
    bool operator==(const Statement&) const = default;
    static constexpr auto fields() {
        return Fields<
            &Statement::task, &Statement::before, &Statement::session, &Statement::step, &Statement::pieces,
            &Statement::root>{};
    }
};
/// STM-2: what is signed: "assay/statement" over Borsh of the chain id and the statement.
Hash256 statement_digest(std::string_view chain_id, const Statement& statement) noexcept;

/// One piece of a statement, as evidence.
struct StatedPiece {
    Statement statement;
    Piece piece;
    std::uint32_t index = 0;    ///< of the piece
    std::vector<Hash256> path;  ///< from its leaf to the statement's root
    static constexpr auto fields() {
        return Fields<&StatedPiece::statement, &StatedPiece::piece, &StatedPiece::index, &StatedPiece::path>{};
    }
};

enum class [[nodiscard]] StatementError : std::uint8_t{
    kNotStated = 1,        ///< the piece is not well-formed, or not of the statement
    kWrongStep = 2,        ///< the statement is about another segment
    kNotOpened = 3,        ///< the tile does not belong to the claimed state or trace, or has no such values
    kNotInProgram = 4,     ///< the node is not the program's, or has no such part
    kNoContradiction = 5,  ///< the values are the same
};

/// STM-4: the tile with the piece, of a node's output, as the accuser computes it.
struct OutputEvidence {
    Hash256 trace_root;
    canonical::TensorType type;
    TileOpening opening;  ///< up to the trace root
    static constexpr auto fields() {
        return Fields<&OutputEvidence::trace_root, &OutputEvidence::type, &OutputEvidence::opening>{};
    }
};
/// The same of a tensor of the state before the step.
struct StateEvidence {
    canonical::TensorType type;
    TileOpening opening;  ///< up to the root of that state
    static constexpr auto fields() { return Fields<&StateEvidence::type, &StateEvidence::opening>{}; }
};
/// The same of a part: what it leaves of the tile.
struct PartEvidence {
    Hash256 trace_root;
    NodeOpening node;
    canonical::Accumulator accumulator;
    static constexpr auto fields() {
        return Fields<&PartEvidence::trace_root, &PartEvidence::node, &PartEvidence::accumulator>{};
    }
};

/// Other values than those that were stated. The kind of evidence is that of the piece.
struct Contradiction {
    StatedPiece stated;
    /// State root after the statement's step, as the accuser computes it; of a tensor of the state, before that step.
    Hash256 state_root;
    std::variant<OutputEvidence, StateEvidence, PartEvidence> evidence;
    static constexpr auto fields() {
        return Fields<&Contradiction::stated, &Contradiction::state_root, &Contradiction::evidence>{};
    }
};

/// STM-4, STM-5: the claim of whoever makes the contradiction, which the statement's author may dispute. `segment` is
/// the claim of the whole segment; its `after` is not used. nullopt if nothing is left to dispute, since the values
/// belong to the state at the segment's start: then the author was wrong.
Result<std::optional<Claim>, StatementError> make_accusation(const Claim& segment, const Contradiction& contradiction);

/// STM-4: the hash of the values of a piece's rectangle in its tile, or in what a part leaves of it; nullopt if they
/// have another width.
std::optional<Hash256> values_of(const Piece& piece, const canonical::Tile& tile);
std::optional<Hash256> values_of(const Piece& piece, const canonical::Node& node, const canonical::Accumulator& part);
/// Number of the tile, of a tensor of this shape, that has the piece.
std::uint64_t tile_of(const canonical::Shape& shape, const Piece& piece) noexcept;

/// STM-7: fails unless the two say different values of one rectangle, in one session.
Result<void, StatementError> check_equivocation(const StatedPiece& one, const StatedPiece& other) noexcept;

}  // namespace assay::dispute
