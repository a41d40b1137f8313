// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>

/// Arrays of any number of dimensions over the graph's matrices: an array of dimensions d0 .. dn is the row-major
/// matrix [d0 * .. * d(n-1), dn]; one of one dimension is [1, d0], one of none [1, 1].
namespace assay::program {

using Dims = std::vector<std::uint32_t>;

canonical::Shape matrix_shape(std::span<const std::uint32_t> dims);
std::uint64_t element_count(std::span<const std::uint32_t> dims);

// Views, each from an array of `dims`; the output's dimensions are the result's View::dims ({1} for none). Arguments
// that do not fit, more than kMaxViewAxes dimensions among them, are a bug of the caller and abort.

/// The same elements in the same order.
canonical::View reshape_view(const Dims& dims, const Dims& to);
/// Axis i of the output is axis order[i] of the input.
canonical::View permute_view(const Dims& dims, std::span<const std::uint32_t> order);
/// Element first + i * step along `axis`, for i in 0 .. count-1; step may be negative.
canonical::View slice_view(
    const Dims& dims, std::uint32_t axis, std::int64_t first, std::uint32_t count, std::int32_t step = 1
);
/// `before` and `after` elements of fill around each axis; negative numbers crop.
canonical::View pad_view(const Dims& dims, std::span<const std::int32_t> before, std::span<const std::int32_t> after);
/// NumPy's broadcasting of `dims` to `to`.
canonical::View expand_view(const Dims& dims, const Dims& to);

/// The windows of a convolution or a pooling over the middle axes of [batch, spatial..., channels]. Whatever is left
/// empty is 1 (stride, dilation) or 0 (padding) along every axis.
struct Windows {
    Dims kernel{};
    Dims stride{};
    Dims dilation{};
    std::vector<std::int32_t> pad_before{};
    std::vector<std::int32_t> pad_after{};
    bool rounds_up = false;  ///< the last window may reach beyond the padding (ONNX ceil_mode)
};
/// [batch, out spatial..., channels]; every window fits at least once.
Dims window_dims(const Dims& dims, const Windows& windows);
/// -> [batch, out spatial..., kernel..., channels]
canonical::View windows_view(const Dims& dims, const Windows& windows);
/// The other way round: from an array of window_dims(dims, windows), but for the number of channels, which is
/// `channels`, to [batch, spatial..., kernel..., channels]: the window that reads this place through this position of
/// the kernel, and fill where there is none.
canonical::View windows_at_view(const Dims& dims, const Windows& windows, std::uint32_t channels);

/// Moves the kernel's axes of such an array behind the channels: [batch, spatial..., channels, kernel...].
canonical::View kernel_last(const canonical::View& windows, std::size_t spatial_axes);

// What can be said of views without running them.

/// Whether every element of the output is one of the input: nothing is fill. May say no where it is so.
bool never_fills(const canonical::View& view);
/// Whether the view gives the same elements in the same order.
bool is_identity(const canonical::View& view);
/// The one view that is `outer` of `inner`'s output, if it can be written as one. An element is fill in it where it is
/// fill in either.
std::optional<canonical::View> compose_views(const canonical::View& inner, const canonical::View& outer);

/// The adjoint of `view` is a view and then a sum: gradient of the input at x = sum over r of adjoint(view)(gradient of
/// the output) at (x, r). The result's View::dims are those of the input (cut finer where that helps), then those of r,
/// of which there is none when nothing is read twice. Which elements the view filled does not matter to it.
canonical::View adjoint_view(const canonical::View& view);

}  // namespace assay::program
