// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <verifier/canonical/node.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/thread_pool.hpp>

namespace assay::engine::fused {

/// The numbers in which the products of `contract` are exact when its operands are within +-2^p, and which this CPU is
/// quickest with: 16-bit integers or floats up to 8 bits, doubles where one chunk's sum fits 53 bits or does so once the
/// right operand is cut in two; kWords where nothing fits.
Format product_format(const canonical::Node& contract);

/// The operands of a contraction, the quantised ones as `format` numbers.
struct ProductOperands {
    const void* a = nullptr;
    const std::int32_t* exponent_a = nullptr;
    const void* b = nullptr;
    const std::int32_t* exponent_b = nullptr;
    float* out = nullptr;
};
/// NUM-16, NUM-17.
void run_product(const canonical::Node& contract, Format format, const ProductOperands& operands, ThreadPool& pool);

}  // namespace assay::engine::fused
