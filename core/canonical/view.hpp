// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>

/// The map of a kView (NUM-34), for everybody who executes one.
namespace assay::canonical {

/// The flat (row-major) index of the input's element that flat output element `n` copies; nullopt where it is the fill.
/// The definition; ViewCursor gives the same for many elements in less time. `view` is that of a well-formed node.
std::optional<std::uint64_t> flat_source(const View& view, std::uint64_t n) noexcept;

/// `count` output elements in a row that are all fill, or whose sources are source, source + step, source + 2 * step...
/// The step of a single element is 0.
struct ViewRun {
    std::uint64_t count = 0;
    bool is_fill = false;
    std::uint64_t source = 0;
    std::int64_t step = 0;
};

/// Walks the output's elements in flat order, a run at a time. A run ends where the last axis of `dims` that is longer
/// than 1 does, where a coordinate enters or leaves its axis, and after one element where a divisor does not divide
/// that axis' stride.
class ViewCursor {
  public:
    /// `view` is that of a well-formed node and outlives the cursor.
    explicit ViewCursor(const View& view) noexcept;

    /// Goes to output element `n`, which exists.
    void seek(std::uint64_t n) noexcept;
    /// The run of 1 to `most` elements that starts here; goes to the element after it.
    ViewRun next(std::uint64_t most) noexcept;

  private:
    struct Axis {
        std::int64_t numerator = 0;  // at the current element
        std::int64_t stride = 0;     // of the output axis that runs follow
        std::int64_t divisor = 1;
        std::int64_t size = 1;
        std::uint64_t weight = 1;    // of one step along this axis in the flat input
        bool is_linear = true;       // the divisor divides the stride
    };

    ViewRun run_at(std::uint64_t most) const noexcept;
    void advance(std::uint64_t count) noexcept;

    const View& view_;
    std::size_t inner_;
    std::array<Axis, kMaxViewAxes> axes_;
    std::array<std::uint32_t, kMaxViewAxes> index_{};
};

/// What one output tile of a kView copies.
struct ViewTile {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    /// Per element of the output tile: the input's tile that it comes from, and where in that; kNone for fill and
    /// padding.
    std::array<std::uint64_t, kTileElements> tile;
    std::array<std::uint16_t, kTileElements> element;
    /// The distinct tiles among them, ascending: partial p reads the p-th.
    std::vector<std::uint64_t> touched;
};
ViewTile view_tile(const Node& view_node, std::uint64_t tile);

}  // namespace assay::canonical
