// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <verifier/compile/onnx/call.hpp>

/// Inside onnx only: arrays as matrices whose rows run along some of the axes.
namespace assay::onnx {

struct Rows {
    std::vector<std::uint32_t> order;  ///< the other axes, then those of the rows
    Dims kept;                         ///< sizes of the other axes
    canonical::Shape shape;            ///< product of the others by product of the rows'
    Value value;
};

/// `axes` are distinct and in range.
Rows rows_along(Lowering& lowering, const Operand& x, std::vector<std::uint32_t> axes);
/// The other way round: a matrix of rows.shape with the axes where they were.
Operand from_rows(Lowering& lowering, const Operand& x, const Rows& rows, const Value& value);

/// `axis` alone.
std::vector<std::uint32_t> one_axis(std::uint32_t axis);
/// first, first + 1, .. end - 1.
std::vector<std::uint32_t> axes_between(std::size_t first, std::size_t end);

}  // namespace assay::onnx
