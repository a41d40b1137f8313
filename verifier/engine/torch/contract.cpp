// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/torch/contract.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/backend/product_bits.hpp>
#include <verifier/engine/cuda/residues.hpp>
#include <verifier/engine/torch/residues.hpp>

namespace assay::engine {

using canonical::Node;
using Sums = DeviceKernels::Sums;

namespace {

constexpr int kTrials = 3;

// Everything is [groups, rows, columns] from here on: a [G,M,k], b [G,N,k] -> [G,M,N].
at::Tensor product_of(const at::Tensor& a, const at::Tensor& b) {
    if (a.size(0) == 1) {
        return at::mm(a[0], b[0].t()).unsqueeze(0);
    }
    return at::bmm(a, b.transpose(1, 2));
}

at::Tensor multiply_floats(const at::Tensor& a, const at::Tensor& b, std::uint32_t precision) {
    const at::NoTF32Guard full_precision;
    const std::int64_t step = std::int64_t{1} << (kFloatBits - 2 * precision);
    at::Tensor sum;
    for (std::int64_t first = 0; first < a.size(2); first += step) {
        const std::int64_t count = std::min(step, a.size(2) - first);
        const at::Tensor part = product_of(a.narrow(2, first, count), b.narrow(2, first, count)).to(at::kDouble);
        sum = sum.defined() ? sum.add_(part) : part;
    }
    return sum;
}

// 2^12 (b high) is exact, so the one addition that puts them together rounds, once.
Sums multiply_two_doubles(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor wide = a.to(at::kDouble);
    const at::Tensor high = b.bitwise_right_shift(std::int64_t{kHalfBits});
    const at::Tensor low = b - high * (std::int64_t{1} << kHalfBits);
    return {
        .doubles = product_of(wide, low.to(at::kDouble)),
        .upper = product_of(wide, high.to(at::kDouble)),
        .residues = {}};
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

// One contraction on its way: both operands as the way to multiply wants them, then chunk after chunk.
class Contraction {
  public:
    Contraction(const DeviceMath& math, DeviceKernels* kernels, const Node& node, ProductKind kind)
        : math_(math),
          kernels_(kernels),
          node_(node),
          kind_(kind),
          groups_(canonical::group_count(node)),
          depth_(node.inputs[0].shape.cols),
          chunk_(std::min<std::int64_t>(node.attributes[1], depth_)) {}

    at::Tensor run(const ContractOperands& operands) {
        a_ = prepared(operands.left);
        b_ = prepared(operands.right);
        return kernels_ != nullptr ? finish_in_kernels(operands) : finish_in_library(operands);
    }

  private:
    at::Tensor prepared(const Quantised& q) const {
        if (kind_ == ProductKind::kResidues) {
            const std::size_t count = residue_count(quantised_limit(node_.attributes[0]), chunk_);
            return kernels_ != nullptr ? kernels_->residues(q, groups_, count) : to_residues(grouped(words(q)), count);
        }
        if (kind_ == ProductKind::kFloats || kind_ == ProductKind::kDoubles) {
            const at::ScalarType type = kind_ == ProductKind::kFloats ? at::kFloat : at::kDouble;
            return grouped(kernels_ != nullptr ? kernels_->quantised(q, type) : words(q).to(type));
        }
        return grouped(words(q));
    }
    at::Tensor words(const Quantised& q) const {
        return q.words.defined() ? q.words : kernels_->quantised(q, at::kInt);
    }
    at::Tensor grouped(const at::Tensor& x) const { return x.view({groups_, x.size(0) / groups_, x.size(1)}); }

    Sums multiply(std::int64_t first) const {
        const std::int64_t columns = a_.size(-1);  // padded, for residues
        const std::int64_t count = std::min(chunk_ == depth_ ? columns : chunk_, columns - first);
        const at::Tensor a = a_.narrow(-1, first, count);
        const at::Tensor b = b_.narrow(-1, first, count);
        switch (kind_) {
            case ProductKind::kResidues:
                return {.doubles = {}, .upper = {}, .residues = multiply_residues(a, b)};
            case ProductKind::kFloats:
                return {.doubles = multiply_floats(a, b, node_.attributes[0]), .upper = {}, .residues = {}};
            case ProductKind::kDoubles:
                return {.doubles = product_of(a, b), .upper = {}, .residues = {}};
            case ProductKind::kTwoDoubles:
                return multiply_two_doubles(a, b);
            default:
                return {.doubles = multiply_words(a, b).to(at::kDouble), .upper = {}, .residues = {}};
        }
    }

    at::Tensor finish_in_kernels(const ContractOperands& operands) const {
        at::Tensor total;
        at::Tensor out;
        for (std::int64_t first = 0; first < depth_; first += chunk_) {
            kernels_->finish(node_, operands.e_left, operands.e_right, multiply(first), first / chunk_, total, out);
        }
        return out;
    }

    at::Tensor rounded(const Sums& sums) const {
        if (sums.residues.defined()) {
            return from_residues(sums.residues, node_.shape.rows / groups_, node_.shape.cols).to(at::kDouble);
        }
        return sums.upper.defined() ? at::add(at::mul(sums.upper, math_.f64(1 << kHalfBits)), sums.doubles)
                                    : sums.doubles;
    }

    at::Tensor finish_in_library(const ContractOperands& operands) const {
        const auto scale = [&](const at::Tensor& e) {
            return grouped(DeviceMath::power_of_two(e.to(at::kLong) - std::int64_t{node_.attributes[0]}));
        };
        const at::Tensor left = scale(operands.e_left);
        const at::Tensor right = scale(operands.e_right).transpose(1, 2);
        at::Tensor sum;
        for (std::int64_t first = 0; first < depth_; first += chunk_) {
            at::Tensor v = rounded(multiply(first));
            v.mul_(left.narrow(2, first / chunk_, 1));
            v.mul_(right.narrow(1, first / chunk_, 1));
            sum = sum.defined() ? sum.add_(v) : v;
        }
        return math_.canon(sum.to(at::kFloat)).view(sizes_of(node_.shape));
    }

    const DeviceMath& math_;
    DeviceKernels* kernels_;
    const Node& node_;
    ProductKind kind_;
    std::int64_t groups_;
    std::int64_t depth_;
    std::int64_t chunk_;
    at::Tensor a_;
    at::Tensor b_;
};

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
    const auto words = [](const at::Tensor& q) { return Quantised{.words = q, .x = {}, .e = {}}; };
    return Contraction(math, nullptr, node, kind)
        .run({words(operands[0]), operands[1], words(operands[2]), operands[3]});
}

at::Tensor Contractor::contract(const Node& node, bool is_bounded, const ContractOperands& operands) {
    const std::vector<ProductKind> kinds = candidates(node, is_bounded, choice_, !math_.device().is_cpu());
    return Contraction(math_, kernels_, node, measured(node, kinds, operands)).run(operands);
}

ProductKind Contractor::measured(
    const Node& node, const std::vector<ProductKind>& kinds, const ContractOperands& operands
) {
    at::Tensor first;
    const auto measure = [&](ProductKind kind) {
        // The first run finds memory and the library's algorithm.
        const at::Tensor out = Contraction(math_, kernels_, node, kind).run(operands);
        if (first.defined() && !at::equal(first.view(at::kInt), out.view(at::kInt))) {
            throw std::runtime_error("engine: two exact ways to contract disagree on this device");
        }
        first = out;
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < kTrials; ++i) {
            synchronise(math_.device());
            const auto start = std::chrono::steady_clock::now();
            (void)Contraction(math_, kernels_, node, kind).run(operands);
            synchronise(math_.device());
            best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        return best;
    };
    return chooser_.choose(node, kinds, measure);
}

}  // namespace assay::engine
