// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/compile/onnx/lowering.hpp>

namespace assay::onnx {

/// Internal to the importer: a [G*M,K] times b [G*N,K] transposed, for each group -> [G*M,N], for any sizes. Sizes that
/// a grouped contraction needs as multiples of 32 are padded with zeros, and the padding is removed from the result.
Value grouped_product(Lowering& lowering, const Value& a, const Value& b, std::uint32_t groups);

}  // namespace assay::onnx
