// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

/// Internal to the engine: exact integer products by int8 products (engine/cuda/residues.hpp) with libtorch, on any
/// device.
namespace assay::engine {

/// Returns the residues of q [G,M,K], i32: int8 [count,G,M',K'], zero-padded beyond M and K to the sizes that int8
/// products need. With count 1 they are the numbers themselves, within +-127.
at::Tensor to_residues(const at::Tensor& q, std::size_t count);

/// Multiplies residues a [count,G,M',k] and b [count,G,N',k]: int32 sums [count,G,M',N'], congruent to the exact sums
/// modulo kModuli[i]; with count 1 they are exact (then k is at most kResidueColumns).
at::Tensor multiply_residues(const at::Tensor& a, const at::Tensor& b);

/// Converts the output of multiply_residues, [count,G,M',N'], to the exact sums, i64 [G,rows,cols].
at::Tensor from_residues(const at::Tensor& sums, std::int64_t rows, std::int64_t cols);

/// The numbers of rows and columns that to_residues pads to.
std::int64_t padded_rows(std::int64_t rows);
std::int64_t padded_columns(std::int64_t columns);

}  // namespace assay::engine
