// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <core/canonical/node.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/thread_pool.hpp>

namespace assay::engine::fused {

/// Returns the storage format of the operands of `contract`, whose values are within +-2^p. Up to 14 bits: 16-bit
/// integers if a chunk's sums fit 32 bits and there is a kernel for them, but no matrix unit. Otherwise floats, if p is
/// at most 8 or a chunk's sums are exact in doubles, if necessary with the right operand split in two; else kWords.
Format product_format(const canonical::Node& contract);

/// Returns the format of operand 0 or 2 if it is quantised to the product's own precision, with exponents per whole
/// steps or for all columns: packed for the matrix unit if that multiplies it, else product_format.
Format operand_format(const canonical::Node& contract, std::size_t input);
/// Returns the size in bytes of an operand packed for the matrix unit.
std::size_t packed_bytes(const canonical::Node& contract, std::size_t input);

/// What the threads' buffers for products take, each of which grows to the most that any product needs.
struct WorkspaceBytes {
    std::size_t left = 0;
    std::size_t right = 0;
    std::size_t sums = 0;
};
/// About how many bytes of operands and sums `threads` threads keep besides once they have multiplied operands that are
/// not packed yet.
WorkspaceBytes workspace_bytes(const canonical::Node& contract, std::size_t threads);
/// Frees the calling thread's buffers for products, which are otherwise kept from product to product.
void release_workspace() noexcept;

/// The operands of a contraction; quantised ones are in the format product_format, or packed.
struct ProductOperands {
    const void* a = nullptr;
    const std::int32_t* exponent_a = nullptr;
    const void* b = nullptr;
    const std::int32_t* exponent_b = nullptr;
    float* out = nullptr;
    std::int64_t* exact = nullptr;  ///< [rows, cols]: unless nullptr, exact sums are added here and nothing is scaled
    bool is_laid_out_a = false;
    bool is_laid_out_b = false;
};
/// Computes the contraction (NUM-16, NUM-17), distributed over the threads of `pool`.
void run_product(const canonical::Node& contract, const ProductOperands& operands, ThreadPool& pool);

/// The contraction with chunks that are small enough for accumulate_product(); nothing if there is no kernel for it.
std::optional<canonical::Node> accumulating(const canonical::Node& contract);
/// Adds to `sums`, [rows, cols], the exact sums of products of all chunks modulo 2^64. `contract` is what
/// accumulating() returns, and `a` and `b` are in its product_format.
void accumulate_product(
    const canonical::Node& contract, const void* a, const void* b, std::int64_t* sums, ThreadPool& pool
);

}  // namespace assay::engine::fused
