// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>

/// The index map of a kView (NUM-34), for all executors.
namespace assay::canonical {

/// The flat (row-major) index of the input element that flat output element `n` copies; nullopt if `n` is a fill
/// element. This is the definition; ViewCursor computes the same faster for many elements. `view` must belong to a
/// well-formed node.
std::optional<std::uint64_t> flat_source(const View& view, std::uint64_t n) noexcept;

/// `count` consecutive output elements that are all fill, or whose sources are source, source + step, source + 2 *
/// step,
/// ... The step of a single element is 0.
struct ViewRun {
    std::uint64_t count = 0;
    bool is_fill = false;
    std::uint64_t source = 0;
    std::int64_t step = 0;
};

/// Iterates over the output's elements in flat order, one run at a time. A run ends at the end of the last axis of
/// `dims` that is longer than 1, where a coordinate enters or leaves its axis, and after one element if a divisor does
/// not divide that axis' stride.
class ViewCursor {
  public:
    /// `view` must belong to a well-formed node and outlive the cursor.
    explicit ViewCursor(const View& view) noexcept;

    /// Moves to output element `n`, which must exist.
    void seek(std::uint64_t n) noexcept;
    /// Returns the run of 1 to `most` elements that starts here, and moves past it.
    ViewRun next(std::uint64_t most) noexcept;

  private:
    struct Axis {
        std::int64_t numerator = 0;  // at the current element
        std::int64_t stride = 0;     // of the output axis that runs follow
        std::int64_t divisor = 1;
        std::int64_t size = 1;
        std::uint64_t weight = 1;  // of one step along this axis in the flat input
        bool is_linear = true;     // the divisor divides the stride
    };

    ViewRun run_at(std::uint64_t most) const noexcept;
    void advance(std::uint64_t count) noexcept;

    const View& view_;
    std::size_t inner_;
    std::array<Axis, kMaxViewAxes> axes_;
    std::array<std::uint32_t, kMaxViewAxes> index_{};
};

/// The source elements of one output tile of a kView.
struct ViewTile {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    /// For each element of the output tile: the input tile that it comes from, and the element's index in it; kNone for
    /// fill and padding.
    std::array<std::uint64_t, kTileElements> tile;
    std::array<std::uint16_t, kTileElements> element;
    /// The distinct input tiles, ascending: partial p reads the p-th.
    std::vector<std::uint64_t> touched;
};
ViewTile view_tile(const Node& view_node, std::uint64_t tile);

}  // namespace assay::canonical
