// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <core/canonical/node.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/thread_pool.hpp>

namespace assay::engine::fused {

/// How the operands of `contract` are kept for its product, given that they are within +-2^p: as 16-bit integers up to
/// 8 bits where vectors multiply those, else as floats, if one chunk's sums are exact in doubles or are so once the
/// right operand is cut in two; kWords if not.
Format product_format(const canonical::Node& contract);

/// The same of one operand, 0 or 2, that is rounded to the product's own precision, whole steps or all columns to an
/// exponent: laid out for the matrix unit where that multiplies it.
Format operand_format(const canonical::Node& contract, std::size_t input);
/// The bytes of an operand so laid out.
std::size_t packed_bytes(const canonical::Node& contract, std::size_t input);

/// The operands of a contraction, the quantised ones as product_format says or laid out.
struct ProductOperands {
    const void* a = nullptr;
    const std::int32_t* exponent_a = nullptr;
    const void* b = nullptr;
    const std::int32_t* exponent_b = nullptr;
    float* out = nullptr;
    bool is_laid_out_a = false;
    bool is_laid_out_b = false;
};
/// NUM-16, NUM-17.
void run_product(const canonical::Node& contract, const ProductOperands& operands, ThreadPool& pool);

}  // namespace assay::engine::fused
