// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/canonical/sample_views.hpp>

#include <bit>

#include <utility>

namespace assay::canonical::test {
namespace {

std::uint32_t product(const std::vector<std::uint32_t>& sizes, std::size_t first, std::size_t last) {
    std::uint32_t out = 1;
    for (std::size_t i = first; i < last; ++i) {
        out *= sizes[i];
    }
    return out;
}

// A matrix of as many elements as an array of these sizes, cut somewhere between its axes.
Shape random_cut(const std::vector<std::uint32_t>& sizes, Random& random) {
    const auto axes = static_cast<std::uint32_t>(sizes.size());
    const std::size_t cut = random.below(4) == 0 ? random.below(axes + 1) : (axes + random.below(2)) / 2;
    return {product(sizes, 0, cut), product(sizes, cut, axes)};
}

struct Array {
    std::vector<std::uint32_t> sizes;
    Shape shape;
};
Array random_array(Random& random) {
    Array out;
    const std::size_t axes = 1 + random.below(4);
    constexpr std::array<std::uint32_t, 8> kSizes{1, 2, 3, 5, 7, 32, 33, 64};
    for (std::size_t i = 0; i < axes; ++i) {
        const std::uint32_t size = kSizes[random.below(kSizes.size())];
        out.sizes.push_back(product(out.sizes, 0, i) * size > 8000 ? 2 : size);
    }
    out.shape = random_cut(out.sizes, random);
    return out;
}

ViewAxis make_axis(std::uint32_t size, std::size_t dims) { return {size, 0, 1, std::vector<std::int32_t>(dims, 0)}; }

// Output axis i is input axis order[i], cut, padded, reversed or repeated.
View permuted_view(const Array& from, Random& random) {
    const std::size_t axes = from.sizes.size();
    std::vector<std::size_t> order(axes);
    for (std::size_t i = 0; i < axes; ++i) {
        order[i] = i;
        std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i) + 1)]);
    }
    View out;
    out.axes.resize(axes);
    for (std::size_t i = 0; i < axes; ++i) {
        const std::uint32_t size = from.sizes[order[i]];
        ViewAxis& axis = out.axes[order[i]] = make_axis(size, axes);
        axis.strides[i] = 1;
        out.dims.push_back(size);
        switch (random.below(6)) {
            case 0:
                axis.strides[i] = -1;
                axis.offset = static_cast<std::int32_t>(size) - 1;
                break;
            case 1:
                axis.offset = static_cast<std::int32_t>(random.below(size));
                out.dims[i] += 2;
                break;
            case 2:
                axis.offset = -static_cast<std::int32_t>(random.below(3));
                break;
            case 3:
                axis.strides[i] = 2;
                out.dims[i] = (size + 1) / 2;
                break;
            case 4:
                axis.strides[i] = 0;
                break;
            default:
                break;
        }
    }
    return out;
}

// One more output axis of windows over some of the input's axes; a divisor makes it the adjoint of such a view.
View windows_view(const Array& from, Random& random) {
    const std::size_t axes = from.sizes.size();
    View out;
    for (std::size_t i = 0; i < axes; ++i) {
        ViewAxis axis = make_axis(from.sizes[i], axes + 1);
        axis.strides[i] = 1;
        out.dims.push_back(from.sizes[i]);
        if (from.sizes[i] > 1 && random.below(2) == 0) {
            axis.divisor = 1 + random.below(3);
            axis.offset = static_cast<std::int32_t>(random.below(4)) - 2;
            axis.strides[i] = 1 + static_cast<std::int32_t>(random.below(3));
            axis.strides[axes] = static_cast<std::int32_t>(random.below(4)) - 2;
        }
        out.axes.push_back(axis);
    }
    out.dims.push_back(1 + random.below(5));
    return out;
}

// Anything that is well-formed.
View hostile_view(const Array& from, Random& random) {
    View out;
    const std::size_t dims = 1 + random.below(static_cast<std::uint32_t>(kMaxViewAxes));
    for (std::size_t i = 0; i < dims; ++i) {
        out.dims.push_back(product(out.dims, 0, i) > 1000 ? 1 : 1 + random.below(6));
    }
    for (const std::uint32_t size : from.sizes) {
        ViewAxis axis = make_axis(size, dims);
        axis.divisor = random.below(8) == 0 ? 1 + random.below(kMaxDimension) : 1 + random.below(2);
        const bool is_wild = random.below(8) == 0;
        const auto number = [&] {
            const std::uint32_t word = random.next_u32();
            return is_wild ? std::bit_cast<std::int32_t>(word) : static_cast<std::int32_t>(word % 7) - 2;
        };
        axis.offset = number();
        for (std::int32_t& stride : axis.strides) {
            stride = number();
        }
        out.axes.push_back(axis);
    }
    return out;
}

}  // namespace

void make_view(Sample& s, Random& random, Kind kind) {
    const Array from = random_array(random);
    s.inputs = {any_type(from.shape, random, kind)};
    s.node.dtype = s.inputs[0].dtype;
    switch (random.below(kind == Kind::kHostile ? 4 : 3)) {
        case 0:
            s.node.view = windows_view(from, random);
            break;
        case 3:
            s.node.view = hostile_view(from, random);
            break;
        default:
            s.node.view = permuted_view(from, random);
            break;
    }
    s.node.shape = random_cut(s.node.view->dims, random);
    if (s.node.dtype != DType::kI64) {
        s.node.attributes[0] = random.below(2) == 0 ? 0 : hostile_bits(random);
    }
}

}  // namespace assay::canonical::test
