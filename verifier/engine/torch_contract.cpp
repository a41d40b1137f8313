// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch_contract.hpp>

#include <algorithm>

#include <ATen/Context.h>
#include <torch/version.h>

#include <verifier/engine/backend.hpp>

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
#define ASSAY_HAS_INT_MM 1
#else
#define ASSAY_HAS_INT_MM 0
#endif

namespace assay::engine {

using canonical::Node;

namespace {

constexpr std::uint32_t kMaxBytePrecision = 7;
constexpr std::uint32_t kMaxFloatPrecision = 8;
constexpr std::uint32_t kFloatBits = 24;
constexpr std::int64_t kHalfBits = 12;
/// Columns whose products of +-127 sum up within an int32.
constexpr std::int64_t kByteColumns = 65'536;

// Everything is [groups, rows, columns] from here on: a [G,M,k], b [G,N,k] -> [G,M,N].
at::Tensor product_of(const at::Tensor& a, const at::Tensor& b) {
    if (a.size(0) == 1) {
        return at::mm(a[0], b[0].t()).unsqueeze(0);
    }
    return at::bmm(a, b.transpose(1, 2));
}

at::Tensor multiply_doubles(const at::Tensor& a, const at::Tensor& b) {
    return product_of(a.to(at::kDouble), b.to(at::kDouble));
}

// 2^12 (a high) is exact, so the addition alone rounds.
at::Tensor multiply_two_doubles(const DeviceMath& math, const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor wide = a.to(at::kDouble);
    const at::Tensor high = b.bitwise_right_shift(kHalfBits);
    const at::Tensor low = b - high * (std::int64_t{1} << kHalfBits);
    const at::Tensor upper = at::mul(product_of(wide, high.to(at::kDouble)), math.f64(1 << kHalfBits));
    return at::add(upper, product_of(wide, low.to(at::kDouble)));
}

at::Tensor multiply_floats(const at::Tensor& a, const at::Tensor& b, std::uint32_t precision) {
    const at::NoTF32Guard full_precision;
    const at::Tensor left = a.to(at::kFloat);
    const at::Tensor right = b.to(at::kFloat);
    const std::int64_t step = std::int64_t{1} << (kFloatBits - 2 * precision);
    at::Tensor sum;
    for (std::int64_t first = 0; first < a.size(2); first += step) {
        const std::int64_t count = std::min(step, a.size(2) - first);
        const at::Tensor part = product_of(left.narrow(2, first, count), right.narrow(2, first, count)).to(at::kDouble);
        sum = sum.defined() ? sum.add_(part) : part;
    }
    return sum;
}

#if ASSAY_HAS_INT_MM
// The device's product asks for more than 16 rows and multiples of 8 elsewhere; zeros add nothing.
at::Tensor padded_bytes(const at::Tensor& x, std::int64_t rows) {
    const std::int64_t cols = (x.size(1) + 7) / 8 * 8;
    return at::constant_pad_nd(x.to(at::kChar), {0, cols - x.size(1), 0, rows - x.size(0)}, 0);
}

at::Tensor multiply_bytes(const at::Tensor& a, const at::Tensor& b) {
    constexpr std::int64_t kMinRows = 32;
    const std::int64_t rows = std::max(kMinRows, a.size(1));
    const std::int64_t cols = (b.size(1) + 7) / 8 * 8;
    std::vector<at::Tensor> groups;
    for (std::int64_t g = 0; g < a.size(0); ++g) {
        at::Tensor sum;
        for (std::int64_t first = 0; first < a.size(2); first += kByteColumns) {
            const std::int64_t count = std::min(kByteColumns, a.size(2) - first);
            const at::Tensor left = padded_bytes(a[g].narrow(1, first, count), rows);
            const at::Tensor right = padded_bytes(b[g].narrow(1, first, count), cols);
            const at::Tensor part = at::_int_mm(left, right.t()).to(at::kDouble);
            sum = sum.defined() ? sum.add_(part) : part;
        }
        groups.push_back(sum.narrow(0, 0, a.size(1)).narrow(1, 0, b.size(1)));
    }
    return at::stack(groups);
}
#endif

// Modulo 2^64, one column at a time: not every device multiplies matrices of integers.
at::Tensor multiply_words(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor left = a.to(at::kLong);
    const at::Tensor right = b.to(at::kLong).transpose(1, 2).contiguous();
    at::Tensor sum = at::zeros({a.size(0), a.size(1), b.size(1)}, left.options());
    for (std::int64_t k = 0; k < a.size(2); ++k) {
        sum.add_(left.narrow(2, k, 1) * right.narrow(1, k, 1));
    }
    return sum;
}

at::Tensor multiply_chunk(
    const DeviceMath& math, const Node& node, ProductKind kind, const at::Tensor& a, const at::Tensor& b
) {
    switch (kind) {
#if ASSAY_HAS_INT_MM
        case ProductKind::kBytes:
            return multiply_bytes(a, b);
#endif
        case ProductKind::kFloats:
            return multiply_floats(a, b, node.attributes[0]);
        case ProductKind::kDoubles:
            return multiply_doubles(a, b);
        case ProductKind::kTwoDoubles:
            return multiply_two_doubles(math, a, b);
        default:
            return multiply_words(a, b).to(at::kDouble);
    }
}

}  // namespace

ProductKind choose_product(const Node& contract, bool is_bounded, at::Device device) {
    const std::uint32_t precision = contract.attributes[0];
    if (!is_bounded) {
        return ProductKind::kWords;
    }
    // On a CPU the product of bytes may saturate on its way.
    if (ASSAY_HAS_INT_MM != 0 && precision <= kMaxBytePrecision && device.is_cuda()) {
        return ProductKind::kBytes;
    }
    if (precision <= kMaxFloatPrecision) {
        return ProductKind::kFloats;
    }
    if (fits_double(contract, precision)) {
        return ProductKind::kDoubles;
    }
    return fits_double(contract, kHalfBits) ? ProductKind::kTwoDoubles : ProductKind::kWords;
}

at::Tensor contract(
    const DeviceMath& math, const Node& node, ProductKind kind, const std::array<at::Tensor, 4>& operands
) {
    const std::int64_t precision = node.attributes[0];
    const std::int64_t chunk = node.attributes[1];
    const std::int64_t groups = canonical::group_count(node);
    const auto grouped = [groups](const at::Tensor& x) { return x.view({groups, x.size(0) / groups, x.size(1)}); };
    const at::Tensor qa = grouped(operands[0]);
    const at::Tensor qb = grouped(operands[2]);
    const at::Tensor scale_a = grouped(DeviceMath::power_of_two(operands[1].to(at::kLong) - precision));
    const at::Tensor scale_b = grouped(DeviceMath::power_of_two(operands[3].to(at::kLong) - precision)).transpose(1, 2);
    at::Tensor sum;
    for (std::int64_t first = 0; first < qa.size(2); first += chunk) {
        const std::int64_t count = std::min(chunk, qa.size(2) - first);
        at::Tensor v = multiply_chunk(math, node, kind, qa.narrow(2, first, count), qb.narrow(2, first, count));
        v.mul_(scale_a.narrow(2, first / chunk, 1));
        v.mul_(scale_b.narrow(1, first / chunk, 1));
        sum = sum.defined() ? sum.add_(v) : v;
    }
    return math.canon(sum.to(at::kFloat)).view(sizes_of(node.shape));
}

}  // namespace assay::engine
