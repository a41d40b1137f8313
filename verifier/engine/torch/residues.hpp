// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

/// Inside engine only: exact products of whole numbers by products of int8 (residues.hpp) over libtorch, on any device.
namespace assay::engine {

/// The residues of q [G,M,K], i32: [count,G,M',K'] of int8 with zeros beyond M and K, as int8 products want them. With
/// a count of 1 they are the numbers themselves, within +-127.
at::Tensor to_residues(const at::Tensor& q, std::size_t count);

/// From residues a [count,G,M',k], b [count,G,N',k]: the sums of their products [count,G,M',N'] as int32, congruent to
/// the exact ones modulo kModuli[i]; with a count of 1 the exact ones (k at most kResidueColumns then).
at::Tensor multiply_residues(const at::Tensor& a, const at::Tensor& b);

/// [count,G,M',N'] of multiply_residues to the exact sums, i64 [G,rows,cols].
at::Tensor from_residues(const at::Tensor& sums, std::int64_t rows, std::int64_t cols);

/// The rows and columns that to_residues pads to.
std::int64_t padded_rows(std::int64_t rows);
std::int64_t padded_columns(std::int64_t columns);

}  // namespace assay::engine
