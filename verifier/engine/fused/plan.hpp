// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/fused/view_rows.hpp>

/// How a graph is executed fast on a CPU. Its nodes fall into *stages*. A *region* is a set of nodes that all work row
/// by row on the same rows; it is executed block of rows by block of rows, so that what one node leaves is still in
/// cache when the next reads it, and only what another stage reads is ever written to memory. Products, scatters and
/// batches are stages of their own.
namespace assay::engine::fused {

inline constexpr std::size_t kTensorAlignment = 64;  ///< of every tensor, in bytes: a cache line

/// A value: a node's output, or after those a tensor of the state.
using ValueId = std::uint32_t;

/// How a value lies in memory. A quantised operand of a product is kept as the numbers that the product multiplies, or
/// laid out in digits for the matrix unit, on the left or on the right.
enum class Format : std::uint8_t { kWords, kWide, kFloat, kShort, kLeftDigits, kRightDigits };
constexpr bool is_laid_out(Format format) { return format == Format::kLeftDigits || format == Format::kRightDigits; }
/// Of an element; a value that is laid out has no elements of its own.
constexpr std::size_t size_of(Format format) {
    return format == Format::kWide ? 8 : format == Format::kShort ? 2 : 4;
}

constexpr std::uint32_t kNoState = ~0U;

struct Value {
    canonical::Shape shape;
    Format format = Format::kWords;
    bool is_stored = false;             ///< in memory between stages; else within one region only
    std::uint32_t next_state = kNoState;  ///< it is written where this tensor of the next state lies; else in the arena
    std::size_t offset = 0;             ///< in the arena
    std::size_t packed_bytes = 0;       ///< of a value that is laid out
    std::size_t size_bytes() const {
        return is_laid_out(format) ? packed_bytes : shape.element_count() * size_of(format);
    }
};

/// Where an operand of a region's operation is found.
struct Operand {
    enum class Place : std::uint8_t { kNone, kScratch, kRows, kWhole };
    Place place = Place::kNone;  ///< kRows: the block's own rows of a stored value; kWhole: all of it
    ValueId value = 0;
    std::size_t scratch = 0;  ///< kScratch: offset in bytes
};

struct RegionOp {
    ValueId node = 0;
    std::array<Operand, 3> inputs{};
    Operand output;
    std::shared_ptr<const ViewRows> view;
    bool sums_at_once = false;  ///< a row sum that quantises its terms itself; inputs are kQuantise's
};

struct Region {
    std::uint32_t rows = 0;
    std::vector<RegionOp> ops;
    std::uint32_t block_rows = 1;   ///< rows executed at once
    std::size_t scratch_bytes = 0;  ///< for each thread
};

struct Stage {
    enum class Kind : std::uint8_t { kRegion, kProduct, kScatter, kBatch };
    Kind kind = Kind::kRegion;
    ValueId node = 0;        ///< kProduct, kScatter, kBatch
    std::size_t region = 0;  ///< kRegion: which
};

struct Plan {
    canonical::Graph graph;
    std::vector<Value> values;
    std::vector<Region> regions;
    std::vector<Stage> stages;  ///< in order of execution
    std::size_t arena_bytes = 0;
    ValueId state_value(std::size_t index) const { return static_cast<ValueId>(graph.size() - 1 + index); }
    ValueId value_of(const canonical::Input& input) const {
        return input.source == canonical::Source::kNode ? input.index : state_value(input.index);
    }
};

/// `kept` are nodes whose outputs are wanted after the step. The graph is well-formed. Nothing when a product reads
/// operands that are not known to be bounded: such a graph is executed node by node.
std::optional<Plan> make_plan(
    const canonical::Graph& graph, std::span<const canonical::TensorType> state, std::span<const std::uint32_t> kept,
    int threads
);

}  // namespace assay::engine::fused
