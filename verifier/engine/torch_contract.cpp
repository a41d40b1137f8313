// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch_contract.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <verifier/engine/backend.hpp>
#include <verifier/engine/residues.hpp>
#include <verifier/engine/torch_residues.hpp>

namespace assay::engine {

using canonical::Node;

namespace {

constexpr std::uint32_t kFloatBits = 24;
constexpr std::int64_t kHalfBits = 12;
constexpr int kTrials = 3;

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

at::Tensor multiply_residues(const at::Tensor& a, const at::Tensor& b, std::uint32_t precision) {
    const std::size_t count = residue_count(quantised_limit(precision), a.size(2));
    const at::Tensor sums = engine::multiply_residues(to_residues(a, count), to_residues(b, count));
    return from_residues(sums, a.size(1), b.size(1)).to(at::kDouble);
}

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
        case ProductKind::kFloats:
            return multiply_floats(a, b, node.attributes[0]);
        case ProductKind::kDoubles:
            return multiply_doubles(a, b);
        case ProductKind::kTwoDoubles:
            return multiply_two_doubles(math, a, b);
        case ProductKind::kResidues:
            return multiply_residues(a, b, node.attributes[0]);
        default:
            return multiply_words(a, b).to(at::kDouble);
    }
}

// What a device is asked for it does later.
void synchronise(at::Device device) {
    if (!device.is_cpu()) {
        c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
    }
}

}  // namespace

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

at::Tensor Contractor::contract(const Node& node, bool is_bounded, const std::array<at::Tensor, 4>& operands) {
    const std::vector<ProductKind> kinds = candidates(node, is_bounded, choice_, !math_.device().is_cpu());
    return engine::contract(math_, node, measured(node, kinds, operands), operands);
}

ProductKind Contractor::measured(
    const Node& node, const std::vector<ProductKind>& kinds, const std::array<at::Tensor, 4>& operands
) {
    at::Tensor first;
    const auto measure = [&](ProductKind kind) {
        // The first run finds memory and the library's algorithm.
        const at::Tensor out = engine::contract(math_, node, kind, operands);
        if (first.defined() && !at::equal(first.view(at::kInt), out.view(at::kInt))) {
            throw std::runtime_error("engine: two exact ways to contract disagree on this device");
        }
        first = out;
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < kTrials; ++i) {
            synchronise(math_.device());
            const auto start = std::chrono::steady_clock::now();
            (void)engine::contract(math_, node, kind, operands);
            synchronise(math_.device());
            best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        return best;
    };
    return chooser_.choose(node, kinds, measure);
}

}  // namespace assay::engine
