// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <verifier/compile/onnx/lowering.hpp>

/// Internal to the importer: gathers elements at indices that are known at import or computed.
namespace assay::onnx {

/// Computed indices as f32; negative ones are converted to count from the front.
Value from_front(Lowering& lowering, const Value& index, std::uint32_t size);
/// Gathers rows `index` (i32 [B,1]) of table [V,D] -> [B,D].
Value gather(Lowering& lowering, const Value& table, const Value& index);
/// All elements of `x` as f32 [B,1].
Value column_of(Lowering& lowering, const Operand& x);
/// Computed indices into `size` elements, as i32 [B,1].
Value computed_column(Lowering& lowering, const Operand& index, std::uint32_t size);
/// `x` as a matrix with one row per position along `axis`.
Value axis_first(Lowering& lowering, const Operand& x, std::uint32_t axis);
/// Gathers the elements of `x` at `indices` (all in range) along `axis`.
Operand pick(Lowering& lowering, const Operand& x, std::uint32_t axis, const std::vector<std::int64_t>& indices);

}  // namespace assay::onnx
