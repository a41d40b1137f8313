// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <verifier/compile/onnx/host_tensor.hpp>

/// Internal to the importer: constant folding. Arrays whose elements are known at import, such as shapes, indices and
/// masks, and values computed from them.
namespace assay::onnx {

/// Arrays with more elements are not computed at import.
inline constexpr std::uint64_t kMaxConstant = std::uint64_t{1} << 22U;

/// Real numbers are stored in `reals`, integers and bools in `integers`. If all elements are equal, one may be stored
/// for all of them.
struct Constant {
    ElementType type = ElementType::kFloat;
    program::Dims dims;
    std::vector<double> reals;
    std::vector<std::int64_t> integers;

    bool is_real() const { return kind_of(type) == Kind::kReal; }
    std::uint64_t count() const;
    /// Whether a single element is stored for all; also true for an array of one element.
    bool is_uniform() const { return (is_real() ? reals.size() : integers.size()) == 1 && count() != 0; }
    double real(std::size_t i) const;
    std::int64_t integer(std::size_t i) const;
};

Constant make_reals(ElementType type, program::Dims dims, std::vector<double> values);
Constant make_integers(ElementType type, program::Dims dims, std::vector<std::int64_t> values);
/// An array filled with `value`.
Constant make_uniform(ElementType type, program::Dims dims, double value);
/// An int64 array [n].
Constant make_index(std::span<const std::int64_t> values);

Constant to_constant(const HostTensor& tensor);
/// Converts a computed value to ElementType: rounds to float32, or wraps to the integer's width.
double rounded(ElementType type, double value);
std::int64_t wrapped(ElementType type, std::int64_t value);

/// Casts like ONNX's Cast; real numbers to integers round towards zero.
Constant cast_constant(const Constant& x, ElementType to);
/// Applies `view`, with `fill` where it reads nothing; the result has the view's dimensions.
Constant view_constant(const Constant& x, const canonical::View& view, double fill);

/// NumPy broadcasting: maps element `i` of an array of dimensions `to` to the element of the array of `from` under it.
class BroadcastIndex {
  public:
    BroadcastIndex(const program::Dims& from, const program::Dims& to);
    std::size_t operator()(std::size_t i) const;

  private:
    program::Dims to_;
    std::vector<std::size_t> strides_;
};

/// Elementwise operations with broadcasting to `dims`; the result has type `type`. For real numbers and for integers.
using RealOperation = std::function<double(double, double)>;
using IntegerOperation = std::function<std::int64_t(std::int64_t, std::int64_t)>;
Constant zip_reals(
    const Constant& a, const Constant& b, const program::Dims& dims, ElementType type, const RealOperation& f
);
Constant zip_integers(
    const Constant& a, const Constant& b, const program::Dims& dims, ElementType type, const IntegerOperation& f
);
/// Compares elementwise; both operands must be of the same kind. The result is bools.
Constant compare_constants(
    const Constant& a, const Constant& b, const program::Dims& dims, const std::function<bool(double, double)>& f
);
Constant where_constant(const Constant& condition, const Constant& x, const Constant& y, const program::Dims& dims);
Constant take_constant(const Constant& x, std::size_t axis, std::span<const std::int64_t> indices);
Constant concat_constants(std::span<const Constant* const> parts, std::size_t axis, program::Dims dims);

}  // namespace assay::onnx
