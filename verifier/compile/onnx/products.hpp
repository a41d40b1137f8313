// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/compile/onnx/lowering.hpp>

namespace assay::onnx {

/// Inside onnx only: a [G*M,K] times the transpose of b [G*N,K], group by group, for any sizes: what a grouped
/// contraction needs as multiples of 32 is padded with zeros and cut off again. [G*M,N].
Value grouped_product(Lowering& lowering, const Value& a, const Value& b, std::uint32_t groups);

}  // namespace assay::onnx
