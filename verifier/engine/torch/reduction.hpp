// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/engine/torch/math.hpp>

/// Internal to the engine: row operations, fixed point and indexing with libtorch, on any device (NUM-12 to NUM-15,
/// NUM-18, NUM-19, NUM-38). Uses only integers, comparisons and operations that round once.
namespace assay::engine {

at::Tensor row_max(const DeviceMath& math, const at::Tensor& x);
at::Tensor row_arg_max(const DeviceMath& math, const at::Tensor& x);
/// One exponent for each row and `chunk` columns.
at::Tensor row_exponent(const at::Tensor& x, std::int64_t chunk);

at::Tensor quantise(const DeviceMath& math, const canonical::Node& node, const at::Tensor& x, const at::Tensor& e);
at::Tensor dequantise(const DeviceMath& math, const at::Tensor& q, const at::Tensor& e, std::int64_t precision);

at::Tensor gather_rows(const at::Tensor& table, const at::Tensor& index, canonical::Shape shape);
at::Tensor scatter_add_rows(const at::Tensor& q, const at::Tensor& index, canonical::Shape shape);
at::Tensor one_hot(const DeviceMath& math, const at::Tensor& index, std::int64_t classes);

/// Validated row indices: whether each index is in range, and the index, or 0 if it is out of range (NUM-12).
struct RowIndex {
    at::Tensor is_row;  ///< bool [n]
    at::Tensor row;     ///< i64 [n], in range
};
RowIndex checked_rows(const at::Tensor& index, std::int64_t rows);

}  // namespace assay::engine
