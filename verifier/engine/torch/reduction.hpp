// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/engine/torch/math.hpp>

/// Inside engine only: rows, fixed point and indices over libtorch, on any device (NUM-12 to NUM-15, NUM-18, NUM-19,
/// NUM-38). Whole numbers, comparisons and single roundings only.
namespace assay::engine {

at::Tensor row_max(const DeviceMath& math, const at::Tensor& x);
at::Tensor row_arg_max(const DeviceMath& math, const at::Tensor& x);
/// `chunk` columns to an exponent.
at::Tensor row_exponent(const at::Tensor& x, std::int64_t chunk);

at::Tensor quantise(const DeviceMath& math, const canonical::Node& node, const at::Tensor& x, const at::Tensor& e);
at::Tensor dequantise(const DeviceMath& math, const at::Tensor& q, const at::Tensor& e, std::int64_t precision);

at::Tensor gather_rows(const at::Tensor& table, const at::Tensor& index, canonical::Shape shape);
at::Tensor scatter_add_rows(const at::Tensor& q, const at::Tensor& index, canonical::Shape shape);
at::Tensor one_hot(const DeviceMath& math, const at::Tensor& index, std::int64_t classes);

/// Which of the rows that `index` names exist, and the names with 0 for those that do not (NUM-12).
struct RowIndex {
    at::Tensor is_row;  ///< bool [n]
    at::Tensor row;     ///< i64 [n], in range
};
RowIndex checked_rows(const at::Tensor& index, std::int64_t rows);

}  // namespace assay::engine
