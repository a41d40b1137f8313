// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

#include <ATen/ATen.h>

#include <core/canonical/node.hpp>
#include <core/canonical/transcendental.hpp>

/// Inside engine only: the arithmetic of the rules over libtorch's eager operations, on any device. Only operations
/// that move data, compute whole numbers or round once are used, and no operation multiplies and adds at once; so
/// every device, library and thread count leaves the same bits (NUM-1, NUM-2).
namespace assay::engine {

// Bits of an f32.
inline constexpr std::int64_t kInfinity = 0x7f800000;
inline constexpr std::uint32_t kMinusInfinity = 0xff800000;

at::ScalarType scalar_type(canonical::DType dtype);
std::vector<std::int64_t> sizes_of(canonical::Shape shape);

/// Numbers are 0-dim tensors of the device: dividing by a host scalar is not a division on every device. Not
/// thread-safe; everything is called in inference mode.
class DeviceMath {
  public:
    explicit DeviceMath(at::Device device);

    at::Device device() const { return device_; }
    at::Tensor f64(double x) const;
    /// The f32 with these bits, whatever they mean.
    at::Tensor f32(std::uint32_t bits) const;
    at::Tensor iota(std::int64_t count, at::ScalarType type) const;

    /// NUM-7
    at::Tensor canon(const at::Tensor& x) const;
    /// NUM-10; k i64.
    static at::Tensor power_of_two(const at::Tensor& k);
    /// NUM-11; x f64, at most 2^51.
    at::Tensor rint(const at::Tensor& x) const;
    /// The bits of |x|; x f32.
    static at::Tensor magnitude(const at::Tensor& x);
    /// 1.0 and 0.0 for a condition.
    static at::Tensor truth(const at::Tensor& condition) { return condition.to(at::kFloat); }

    /// NUM-8, NUM-36, NUM-37 and the chains: everything that works element by element.
    at::Tensor elementwise(const canonical::Node& node, std::span<const at::Tensor> inputs) const;

  private:
    at::Tensor unary(const canonical::Node& node, const at::Tensor& x) const;
    at::Tensor binary(canonical::Op op, const at::Tensor& x, const at::Tensor& y) const;
    at::Tensor causal_mask(const canonical::Node& node, const at::Tensor& x) const;
    at::Tensor to_int(const at::Tensor& x) const;
    at::Tensor nearest(const at::Tensor& x) const;
    at::Tensor floor(const at::Tensor& x) const;

    // The chains (torch_chains.cpp): f32 to f32, not yet canon.
    at::Tensor exp(const at::Tensor& x) const;
    at::Tensor log(const at::Tensor& x) const;
    at::Tensor tanh(const at::Tensor& x) const;
    at::Tensor erf(const at::Tensor& x) const;
    at::Tensor trig(const at::Tensor& x, std::int64_t quarters) const;
    at::Tensor exp_chain(const at::Tensor& x) const;
    at::Tensor limited(const at::Tensor& x, double limit) const;
    /// `y`, but NaN where x is.
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
    mutable std::map<std::uint64_t, at::Tensor> doubles_;  // by their bits
    mutable std::map<std::uint32_t, at::Tensor> floats_;
    at::Tensor zero_;
    at::Tensor nan_;
};

}  // namespace assay::engine
