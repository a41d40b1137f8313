// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/fused/view_rows.hpp>

/// Execution plan of a graph on a CPU. The nodes are divided into *stages*. A *region* is a stage of nodes that all
/// work row-wise on the same rows. It runs one block of rows at a time through all its nodes, so that intermediate
/// values stay in cache; only values that other stages read are written to memory. Products, scatters and batches are
/// stages of their own.
namespace assay::engine::fused {

inline constexpr std::size_t kTensorAlignment = 64;  ///< alignment of every tensor, in bytes: a cache line

/// A value: a node's output, or after all nodes a state tensor.
using ValueId = std::uint32_t;

/// Memory format of a value. A quantised operand of a product is stored as the numbers that the product multiplies, or
/// packed as digits for the matrix unit, as left or right operand.
enum class Format : std::uint8_t { kWords, kWide, kFloat, kShort, kLeftDigits, kRightDigits, kBf16, kByte };
constexpr bool is_laid_out(Format format) { return format == Format::kLeftDigits || format == Format::kRightDigits; }
/// Size of an element in bytes; not for packed values.
constexpr std::size_t size_of(Format format) {
    switch (format) {
        case Format::kWide:
            return 8;
        case Format::kShort:
        case Format::kBf16:
            return 2;
        case Format::kByte:
            return 1;
        default:
            return 4;
    }
}
/// The format in which a tensor of `dtype` is stored.
constexpr Format format_of(canonical::DType dtype) {
    switch (dtype) {
        case canonical::DType::kI64:
            return Format::kWide;
        case canonical::DType::kBf16:
            return Format::kBf16;
        case canonical::DType::kI8:
            return Format::kByte;
        default:
            return Format::kWords;
    }
}

constexpr std::uint32_t kNoState = ~0U;

struct Value {
    canonical::Shape shape;
    Format format = Format::kWords;
    bool is_stored = false;               ///< kept in memory between stages; else inside one region only
    std::uint32_t next_state = kNoState;  ///< state tensor whose memory it is written to; kNoState: arena
    std::size_t offset = 0;               ///< offset in the arena
    std::size_t packed_bytes = 0;         ///< size in bytes, if packed
    std::size_t size_bytes() const {
        return is_laid_out(format) ? packed_bytes : shape.element_count() * size_of(format);
    }
};

/// Location of an operand of a region's operation.
struct Operand {
    enum class Place : std::uint8_t { kNone, kScratch, kRows, kWhole };
    Place place = Place::kNone;  ///< kRows: the current block's rows of a stored value; kWhole: all of it
    ValueId value = 0;
    std::size_t scratch = 0;  ///< kScratch: offset in bytes
};

struct RegionOp {
    ValueId node = 0;
    std::array<Operand, 3> inputs{};
    Operand output;
    std::shared_ptr<const ViewRows> view;  ///< equal views share one
    bool sums_at_once = false;  ///< a row sum that quantises its terms itself; `inputs` are those of the kQuantise
};

struct Region {
    std::uint32_t rows = 0;
    std::vector<RegionOp> ops;
    std::uint32_t block_rows = 1;   ///< rows per block
    std::size_t scratch_bytes = 0;  ///< per thread
};

struct Stage {
    enum class Kind : std::uint8_t { kRegion, kProduct, kScatter, kBatch };
    Kind kind = Kind::kRegion;
    ValueId node = 0;        ///< kProduct, kScatter, kBatch
    std::size_t region = 0;  ///< kRegion: index of the region
};

/// The stage of a node that is not executed.
inline constexpr std::size_t kNever = ~std::size_t{0};

struct Plan {
    canonical::Graph graph;  ///< as it is executed: some nodes are there more than once
    std::vector<Value> values;
    std::vector<Region> regions;
    std::vector<Stage> stages;                    ///< in execution order
    std::vector<std::size_t> stage_of;            ///< of each node; kNever if it is not executed
    std::map<std::uint32_t, std::uint32_t> kept;  ///< where in `graph` the nodes are whose outputs are kept
    std::vector<std::uint32_t> observed;          ///< where in `graph` each node is, if they are observed; else empty
    std::size_t arena_bytes = 0;
    std::size_t needed_bytes = 0;   ///< the most that values in the arena take at one time
    std::size_t busiest_stage = 0;  ///< when they do
    std::size_t state_bytes = 0;    ///< of the state, which is there once
    std::size_t scratch_bytes = 0;  ///< of all threads, products included
    std::size_t table_bytes = 0;    ///< of the views' tables
    /// What steps take in all; so many bytes are for what an engine notes of its nodes.
    std::size_t memory_bytes() const { return arena_bytes + state_bytes + scratch_bytes + table_bytes + kNotedBytes; }
    static constexpr std::size_t kNotedBytes = std::size_t{3} << 20U;
    ValueId state_value(std::size_t index) const { return static_cast<ValueId>(graph.size() - 1 + index); }
    ValueId value_of(const canonical::Input& input) const {
        return input.source == canonical::Source::kNode ? input.index : state_value(input.index);
    }
};

/// Whether a node is row-wise: all operations except products, scatters, batches and kCommit.
bool is_row_wise(canonical::Op op);

/// The graph to plan, and what is not in it.
struct PlanInput {
    const canonical::Graph& graph;  ///< well-formed
    std::span<const canonical::TensorType> state;
    std::span<const std::uint32_t> kept;  ///< nodes whose outputs are read after the step
    int threads = 1;
    /// Every node is executed, in blocks of whole tiles, and its output is stored as a tensor has it, or as the same
    /// integers in another type, so that an OutputObserver can see it.
    bool is_observed = false;
    std::uint32_t wall = 0;  ///< no region has nodes on both sides of this index
};

/// Returns the plan; nullopt if a product's operands are not known to be bounded: such a graph is executed node by
/// node.
std::optional<Plan> plan_graph(const PlanInput& input);

}  // namespace assay::engine::fused
