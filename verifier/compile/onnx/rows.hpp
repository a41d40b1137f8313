// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <verifier/compile/onnx/call.hpp>

/// Internal to the importer: arrays as matrices whose rows extend along some of the axes.
namespace assay::onnx {

struct Rows {
    std::vector<std::uint32_t> order;  ///< axis order: the other axes, then the axes within a row
    Dims kept;                         ///< sizes of the other axes
    canonical::Shape shape;            ///< [product of the other axes, product of the row axes]
    Value value;
};

/// Returns `x` as a matrix with rows along `axes`, which must be distinct and in range.
Rows rows_along(Lowering& lowering, const Operand& x, std::vector<std::uint32_t> axes);
/// The inverse: converts a matrix of rows.shape back to an array with the original axis order.
Operand from_rows(Lowering& lowering, const Operand& x, const Rows& rows, const Value& value);

/// Returns {axis}.
std::vector<std::uint32_t> one_axis(std::uint32_t axis);
/// Returns first, first + 1, .., end - 1.
std::vector<std::uint32_t> axes_between(std::size_t first, std::size_t end);

}  // namespace assay::onnx
