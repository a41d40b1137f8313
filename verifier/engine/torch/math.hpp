// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

#include <ATen/ATen.h>

#include <core/canonical/node.hpp>
#include <core/canonical/transcendental.hpp>

/// Internal to the engine: the protocol's arithmetic with libtorch's eager operations, on any device. Uses only
/// operations that move data, compute on integers or round once, and none that fuse multiply and add. So every device,
/// library version and thread count gives the same bits (NUM-1, NUM-2).
namespace assay::engine {

// Bit patterns of f32 values.
inline constexpr std::int64_t kInfinity = 0x7f800000;
inline constexpr std::uint32_t kMinusInfinity = 0xff800000;

at::ScalarType scalar_type(canonical::DType dtype);
std::vector<std::int64_t> sizes_of(canonical::Shape shape);

/// Scalars are 0-dim tensors on the device, since dividing by a host scalar is not a true division on every device. Not
/// thread-safe; call everything in inference mode.
class DeviceMath {
  public:
    explicit DeviceMath(at::Device device);

    at::Device device() const { return device_; }
    at::Tensor f64(double x) const;
    /// A 0-dim f32 with these bits, which may be any bit pattern.
    at::Tensor f32(std::uint32_t bits) const;
    at::Tensor iota(std::int64_t count, at::ScalarType type) const;

    /// Canonicalises f32 values (NUM-7): -0 becomes +0, NaN the canonical NaN.
    at::Tensor canon(const at::Tensor& x) const;
    /// 2^k as f64 (NUM-10); k is i64.
    static at::Tensor power_of_two(const at::Tensor& k);
    /// Rounds to the nearest integer, ties to even (NUM-11); x is f64 with |x| <= 2^51.
    at::Tensor rint(const at::Tensor& x) const;
    /// The bits of |x|; x is f32.
    static at::Tensor magnitude(const at::Tensor& x);
    /// 1.0 where the condition holds, else 0.0.
    static at::Tensor truth(const at::Tensor& condition) { return condition.to(at::kFloat); }

    /// Computes all elementwise operations: NUM-8, NUM-36, NUM-37, NUM-39, NUM-40 and the transcendental functions.
    at::Tensor elementwise(const canonical::Node& node, std::span<const at::Tensor> inputs) const;

  private:
    at::Tensor unary(const canonical::Node& node, const at::Tensor& x) const;
    at::Tensor binary(canonical::Op op, const at::Tensor& x, const at::Tensor& y) const;
    at::Tensor causal_mask(const canonical::Node& node, const at::Tensor& x) const;
    at::Tensor to_int(const at::Tensor& x) const;
    at::Tensor narrow(const canonical::Node& node, std::span<const at::Tensor> inputs) const;
    at::Tensor widen(const canonical::Node& node, const at::Tensor& x) const;
    at::Tensor nearest(const at::Tensor& x) const;
    at::Tensor floor(const at::Tensor& x) const;

    // Transcendental functions as defined operation sequences (chains.cpp): f32 to f32, result not yet canonicalised.
    at::Tensor exp(const at::Tensor& x) const;
    at::Tensor log(const at::Tensor& x) const;
    at::Tensor tanh(const at::Tensor& x) const;
    at::Tensor erf(const at::Tensor& x) const;
    at::Tensor trig(const at::Tensor& x, std::int64_t quarters) const;
    at::Tensor exp_chain(const at::Tensor& x) const;
    at::Tensor limited(const at::Tensor& x, double limit) const;
    /// `y`, but NaN where x is NaN.
    at::Tensor unless_nan(const at::Tensor& x, const at::Tensor& y) const;
    template <std::size_t kTerms>
    at::Tensor polynomial(const std::array<double, kTerms>& terms, const at::Tensor& x) const {
        at::Tensor p = f64(terms[0]);
        for (std::size_t i = 1; i < kTerms; ++i) {
            p = at::add(at::mul(p, x), f64(terms[i]));
        }
        return p;
    }

    at::Device device_;
    mutable std::map<std::uint64_t, at::Tensor> doubles_;  // keyed by their bits
    mutable std::map<std::uint32_t, at::Tensor> floats_;
    at::Tensor zero_;
    at::Tensor nan_;
};

}  // namespace assay::engine
