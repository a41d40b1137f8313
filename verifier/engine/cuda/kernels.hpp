// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <core/canonical/node.hpp>
#include <verifier/engine/cuda/arithmetic.hpp>

/// Inside engine only: the rules that a library's operations compute in many passes, in one pass each. No CUDA and no
/// libtorch in this header: pointers are the device's (or the host's, for the kernels that run there), matrices are
/// row-major and contiguous, and nothing is waited for.
namespace assay::engine::cuda {

using Rank = std::int64_t;

/// What quantised operands are written as.
enum class Form : std::uint8_t { kWords, kFloats, kDoubles, kResidues };

/// f32 [rows,cols] with exponents i32, or words that are quantised already.
struct QuantiseCall {
    const float* x = nullptr;
    const std::int32_t* e = nullptr;      ///< [rows or 1, chunks or 1]
    const std::int32_t* words = nullptr;  ///< instead of x and e
    Rank rows = 0;
    Rank cols = 0;
    Rank e_row_stride = 0;  ///< 0 where all rows share
    Rank chunk = 0;         ///< columns to an exponent; 0 where all share
    std::uint32_t precision = 0;
    Form form = Form::kWords;
    void* out = nullptr;  ///< [rows,cols]; as residues [count, groups, padded_rows, padded_cols], zeros beyond
    std::size_t count = 0;
    Rank groups = 1;
    Rank padded_rows = 0;
    Rank padded_cols = 0;  ///< a multiple of 4
};

/// Sums of one chunk's products to the sum of the chunks, or to the result (NUM-17).
struct FinishCall {
    const double* sums = nullptr;            ///< [rows,cols]
    const double* upper = nullptr;           ///< where not null, the sums are 2^12 upper + sums, rounded once
    const std::int32_t* residues = nullptr;  ///< instead: [count, groups, padded_rows, padded_cols]
    std::size_t count = 0;
    Rank padded_rows = 0;
    Rank padded_cols = 0;
    const std::int32_t* e_left = nullptr;   ///< [rows, chunks]
    const std::int32_t* e_right = nullptr;  ///< [groups * cols, chunks]
    Rank rows = 0;
    Rank cols = 0;
    Rank groups = 1;
    Rank chunks = 1;
    Rank index = 0;  ///< of the chunk
    std::uint32_t precision = 0;
    double* total = nullptr;  ///< [rows,cols]: read unless it is the first chunk, written unless it is the last
    float* out = nullptr;     ///< [rows,cols]: written at the last chunk
};

struct Operand {
    const void* data = nullptr;
    Rank row_stride = 0;  ///< 0 along what is repeated
    Rank col_stride = 0;
};

/// NUM-8, NUM-37.
struct ElementwiseCall {
    canonical::Op op = canonical::Op::kAdd;
    std::array<std::uint32_t, 2> attributes{};
    std::array<Operand, 3> in{};
    Rank rows = 0;
    Rank cols = 0;
    void* out = nullptr;
};

class Kernels {
  public:
    virtual ~Kernels() = default;

    /// A cudaStream_t; kernels on the host ignore it.
    virtual void use_stream(void* stream) = 0;

    /// NUM-13: e [rows, ceil(cols / chunk)].
    virtual void row_exponent(const float* x, Rank rows, Rank cols, Rank chunk, std::int32_t* e) = 0;
    /// NUM-14
    virtual void quantise(const QuantiseCall& call) = 0;
    /// NUM-15: e [rows or 1, 1], its row stride 1 or 0.
    virtual void dequantise(
        const std::int64_t* q,
        const std::int32_t* e,
        Rank e_row_stride,
        Rank rows,
        Rank cols,
        std::uint32_t precision,
        float* out
    ) = 0;
    virtual void finish(const FinishCall& call) = 0;
    virtual void elementwise(const ElementwiseCall& call) = 0;
    /// NUM-32, NUM-35: `attribute` is the node's first.
    virtual void uniform(std::uint32_t attribute, const PhiloxNumbers& numbers, Rank count, float* out) = 0;
    virtual void bernoulli(std::uint32_t attribute, const PhiloxNumbers& numbers, Rank count, float* out) = 0;
};

/// Whether Kernels::elementwise knows the operation.
bool is_elementwise(canonical::Op op);

/// The same text in loops over the host's memory: slow, and how the kernels are tested without a device.
std::unique_ptr<Kernels> make_host_kernels();
#ifdef ASSAY_WITH_CUDA
/// On the current device. Throws std::runtime_error when a kernel cannot be started.
std::unique_ptr<Kernels> make_cuda_kernels();
#endif

}  // namespace assay::engine::cuda
