// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>

/// N-dimensional arrays on the graph's matrices: an array of dimensions d0 .. dn is the row-major matrix [d0 * .. *
/// d(n-1), dn]; a 1-D array is [1, d0], a scalar [1, 1].
namespace assay::program {

using Dims = std::vector<std::uint32_t>;

canonical::Shape matrix_shape(std::span<const std::uint32_t> dims);
std::uint64_t element_count(std::span<const std::uint32_t> dims);

// Views of an array of `dims`. The result's View::dims are the output's dimensions ({1} for a scalar). Invalid
// arguments, including more than kMaxViewAxes dimensions, are a caller's bug and abort.

/// Reshapes to `to`: the same elements in the same order.
canonical::View reshape_view(const Dims& dims, const Dims& to);
/// The same; nullopt where no view can say it, since an axis would have more than kMaxViewSize elements. There is a
/// view for any array of up to that many.
std::optional<canonical::View> try_reshape_view(const Dims& dims, const Dims& to);
/// Permutes axes: axis i of the output is axis order[i] of the input.
canonical::View permute_view(const Dims& dims, std::span<const std::uint32_t> order);
/// Slices: element first + i * step along `axis`, for i in 0 .. count-1; step may be negative.
canonical::View slice_view(
    const Dims& dims, std::uint32_t axis, std::int64_t first, std::uint32_t count, std::int32_t step = 1
);
/// Pads each axis with `before` and `after` fill elements; negative numbers crop.
canonical::View pad_view(const Dims& dims, std::span<const std::int32_t> before, std::span<const std::int32_t> after);
/// Broadcasts `dims` to `to` by NumPy's rules.
canonical::View expand_view(const Dims& dims, const Dims& to);

/// The windows of a convolution or pooling over the middle axes of [batch, spatial..., channels]. An empty member means
/// 1 (stride, dilation) or 0 (padding) on every axis.
struct Windows {
    Dims kernel{};
    Dims stride{};
    Dims dilation{};
    std::vector<std::int32_t> pad_before{};
    std::vector<std::int32_t> pad_after{};
    bool rounds_up = false;  ///< the last window may extend beyond the padding (ONNX ceil_mode)
};
/// Returns [batch, out spatial..., channels]. Every window must fit at least once.
Dims window_dims(const Dims& dims, const Windows& windows);
/// Gathers the windows (im2col): -> [batch, out spatial..., kernel..., channels].
canonical::View windows_view(const Dims& dims, const Windows& windows);
/// The gather of a transposed convolution: from an array of window_dims(dims, windows), but with `channels` channels,
/// to [batch, spatial..., kernel..., channels]. Each element is that of the window which reads this place at this
/// kernel position; fill if there is no such window.
canonical::View windows_at_view(const Dims& dims, const Windows& windows, std::uint32_t channels);

/// Moves the kernel axes of such an array behind the channels: [batch, spatial..., channels, kernel...].
canonical::View kernel_last(const canonical::View& windows, std::size_t spatial_axes);

/// Of a view to [leading..., rest...], where the leading axes hold `elements`: what it has at element `index` of the
/// rest.
canonical::View at_rest(const canonical::View& view, std::uint64_t elements, std::uint64_t index);

// Properties of views, determined without running them.

/// Whether no output element is fill. May return false although it is so.
bool never_fills(const canonical::View& view);
/// Whether the view is the identity: the same elements in the same order.
bool is_identity(const canonical::View& view);
/// Composes `outer` after `inner` into one view; nullopt if no single view can express it. An element of the result is
/// fill if it is fill in either view.
std::optional<canonical::View> compose_views(const canonical::View& inner, const canonical::View& outer);

/// Returns the adjoint (transpose) of `view`, which is a view followed by a sum: input gradient at x = sum over r of
/// adjoint(view)(output gradient) at (x, r). The result's View::dims are those of the input (some possibly split), then
/// those of r, of which there are none if nothing is read twice. Fill elements of `view` do not affect it.
canonical::View adjoint_view(const canonical::View& view);

}  // namespace assay::program
