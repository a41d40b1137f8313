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
#include <core/canonical/tile.hpp>

/// The unit that the chain recomputes. Each output tile of a node is computed by a chain of *partials*: partial 0
/// starts from nothing, each next one from the previous accumulator, and the last one outputs the tile. An elementwise
/// node has one partial per tile, a contraction one per 32-wide K-tile, a gather one per row. A partial reads at most
/// four tiles and 32 values of the dataset, and takes tens of microseconds.
namespace assay::canonical {

/// A step's parameters besides its tensors; fixed by the task (TASK rules), never by the solver.
struct StepContext {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;  ///< global step number; 0 for the initialisation graph
    DatasetShape dataset;
};

/// A tile that a partial reads.
struct TileRef {
    std::uint32_t input = 0;  ///< index in node.inputs
    std::uint64_t tile = 0;
    bool operator==(const TileRef&) const = default;
};

/// Number of partials of output tile `tile` of `node` (at least 1). `node` must be well-formed and not kCommit.
std::uint32_t partial_count(const Node& node, std::uint64_t tile) noexcept;

/// The tiles that partial `partial` reads, as far as the node alone determines them, in a fixed order
/// (docs/protocol/numerics.md).
std::vector<TileRef> operands_of(const Node& node, std::uint64_t tile, std::uint32_t partial) noexcept;

/// The one further tile whose position depends on data: kGatherRows' table tile. `known` are the tiles of operands_of,
/// in its order, each well-formed and of its input's dtype. nullopt if there is none; an index out of range reads
/// nothing and yields zeros (NUM-12).
std::optional<TileRef> dependent_operand(
    const Node& node, std::uint64_t tile, std::uint32_t partial, std::span<const Tile> known
) noexcept;

/// What a partial of kBatchRows reads of the dataset: the tile's columns of one row (NUM-31: Feistel batch order);
/// nullopt for every other node and for a padding row.
std::optional<DatasetSpan> dataset_span_of(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context
) noexcept;

/// The intermediate result between two partials; its format depends on the node's op.
struct Accumulator {
    Bytes data;
    bool operator==(const Accumulator&) const = default;
    static constexpr auto fields() { return Fields<&Accumulator::data>{}; }
};
inline constexpr std::size_t kMaxAccumulatorBytes = 16'384;

/// All inputs of one partial.
struct PartialInput {
    std::optional<Accumulator> before;      ///< absent for partial 0
    std::vector<Tile> tiles;                ///< operands_of, then dependent_operand if there is one
    std::optional<Bytes> dataset_values{};  ///< dataset_span_of: 4 bytes for each value, i32 little-endian
};

enum class [[nodiscard]] PartialError : std::uint8_t{
    kMissingOperand = 1,  ///< DSP-20: wrong number or type of tiles, or dataset values that are missing or too few
    kBadAccumulator = 2,  ///< DSP-20: an accumulator of the wrong length, or one that is missing or must not be present
};

/// Output of a partial: an accumulator, or for the last one the tile.
struct PartialOutput {
    std::optional<Accumulator> accumulator;
    std::optional<Tile> tile;
};

/// Defines every primitive (NUM rules): total, with bounded allocation, and bit-identical on every machine.
Result<PartialOutput, PartialError> execute_partial(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context, const PartialInput& input
) noexcept;

/// NUM-41: whether a tile of the operation may be put together from *parts*, which several machines compute.
bool has_parts(Op op) noexcept;

/// Executes a partial of a part: consecutive partials of one tile, any of which may be the first, that start from
/// nothing and leave an accumulator. Of kContract it is the sum of integers alone, whatever chunks end. `input.before`
/// is absent for the part's first. Fails with kMissingOperand for an operation without parts.
Result<Accumulator, PartialError> execute_part(
    const Node& node, std::uint64_t tile, std::uint32_t partial, const StepContext& context, const PartialInput& input
) noexcept;
/// What a part's accumulator says of an element of its tile, `row` and `col` being those in the tile: 8 bytes of a sum,
/// 4 of a maximum. nullopt if the accumulator has not the length of the operation's, or no such element.
std::optional<Bytes> part_value(const Node& node, const Accumulator& part, std::uint32_t row, std::uint32_t col);

}  // namespace assay::canonical
