// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <verifier/compile/onnx/host_tensor.hpp>

/// Inside onnx only: arrays whose elements are known while a model is imported: shapes, indices, masks, and what is
/// computed from them.
namespace assay::onnx {

/// Beyond this many elements nothing is computed at import.
inline constexpr std::uint64_t kMaxConstant = std::uint64_t{1} << 22U;

/// Real numbers are in `reals`, integers and bools in `integers`; one of the two is used. When all elements are equal
/// there may be one for all of them.
struct Constant {
    ElementType type = ElementType::kFloat;
    program::Dims dims;
    std::vector<double> reals;
    std::vector<std::int64_t> integers;

    bool is_real() const { return kind_of(type) == Kind::kReal; }
    std::uint64_t count() const;
    /// Whether one element is stored for all; also true of an array of one element.
    bool is_uniform() const { return (is_real() ? reals.size() : integers.size()) == 1 && count() != 0; }
    double real(std::size_t i) const;
    std::int64_t integer(std::size_t i) const;
};

Constant make_reals(ElementType type, program::Dims dims, std::vector<double> values);
Constant make_integers(ElementType type, program::Dims dims, std::vector<std::int64_t> values);
/// `value` everywhere.
Constant make_uniform(ElementType type, program::Dims dims, double value);
/// int64 [n].
Constant make_index(std::span<const std::int64_t> values);

Constant to_constant(const HostTensor& tensor);
/// What ElementType asks a computed value to be: rounded to float32, wrapped to the integer's width.
double rounded(ElementType type, double value);
std::int64_t wrapped(ElementType type, std::int64_t value);

/// Casts as ONNX's Cast does, real numbers to integers towards zero.
Constant cast_constant(const Constant& x, ElementType to);
/// The elements that `view` picks, `fill` where it picks none; the result has the view's dimensions.
Constant view_constant(const Constant& x, const canonical::View& view, double fill);

/// Positions of NumPy's broadcasting: the element of an array of `from` under element `i` of one of `to`.
class BroadcastIndex {
  public:
    BroadcastIndex(const program::Dims& from, const program::Dims& to);
    std::size_t operator()(std::size_t i) const;

  private:
    program::Dims to_;
    std::vector<std::size_t> strides_;
};

/// Element by element with broadcasting; the result has `type`. For real numbers and for integers.
using RealOperation = std::function<double(double, double)>;
using IntegerOperation = std::function<std::int64_t(std::int64_t, std::int64_t)>;
Constant zip_reals(
    const Constant& a, const Constant& b, const program::Dims& dims, ElementType type, const RealOperation& f
);
Constant zip_integers(
    const Constant& a, const Constant& b, const program::Dims& dims, ElementType type, const IntegerOperation& f
);
/// Compares: bools out of any two of one kind.
Constant compare_constants(
    const Constant& a, const Constant& b, const program::Dims& dims, const std::function<bool(double, double)>& f
);
Constant where_constant(const Constant& condition, const Constant& x, const Constant& y, const program::Dims& dims);
Constant take_constant(const Constant& x, std::size_t axis, std::span<const std::int64_t> indices);
Constant concat_constants(std::span<const Constant* const> parts, std::size_t axis, program::Dims dims);

}  // namespace assay::onnx
