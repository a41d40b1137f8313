// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <core/canonical/node.hpp>
#include <verifier/engine/cuda/arithmetic.hpp>

/// Internal to the engine: kernels that compute in one pass what a library's operations compute in many. This header
/// needs neither CUDA nor libtorch. Pointers are device pointers (host pointers for the host kernels); matrices are
/// row-major and contiguous; no call waits for the device.
namespace assay::engine::cuda {

using Rank = std::int64_t;

/// Output format of quantised operands.
enum class Form : std::uint8_t { kWords, kFloats, kDoubles, kResidues };

/// Input: f32 [rows,cols] with i32 exponents, or words that are quantised already.
struct QuantiseCall {
    const float* x = nullptr;
    const std::int32_t* e = nullptr;      ///< [rows or 1, chunks or 1]
    const std::int32_t* words = nullptr;  ///< used instead of x and e
    Rank rows = 0;
    Rank cols = 0;
    Rank e_row_stride = 0;  ///< 0 if all rows share exponents
    Rank chunk = 0;         ///< columns per exponent; 0 if all share one
    std::uint32_t precision = 0;
    Form form = Form::kWords;
    void* out = nullptr;  ///< [rows,cols]; kResidues: [count, groups, padded_rows, padded_cols], zero-padded
    std::size_t count = 0;
    Rank groups = 1;
    Rank padded_rows = 0;
    Rank padded_cols = 0;  ///< a multiple of 4
};

/// Scales the sums of one chunk's products and adds them to the sum over chunks, or to the result (NUM-17).
struct FinishCall {
    const double* sums = nullptr;            ///< [rows,cols]
    const double* upper = nullptr;           ///< if not null, the sums are 2^12 * upper + sums, rounded once
    const std::int32_t* residues = nullptr;  ///< used instead: [count, groups, padded_rows, padded_cols]
    std::size_t count = 0;
    Rank padded_rows = 0;
    Rank padded_cols = 0;
    const std::int32_t* e_left = nullptr;   ///< [rows, chunks]
    const std::int32_t* e_right = nullptr;  ///< [groups * cols, chunks]
    Rank rows = 0;
    Rank cols = 0;
    Rank groups = 1;
    Rank chunks = 1;
    Rank index = 0;  ///< index of the chunk
    std::uint32_t precision = 0;
    double* total = nullptr;  ///< [rows,cols]: read except at the first chunk, written except at the last
    float* out = nullptr;     ///< [rows,cols]: written at the last chunk
};

struct Operand {
    const void* data = nullptr;
    Rank row_stride = 0;  ///< strides are 0 along broadcast axes
    Rank col_stride = 0;
};

/// An elementwise operation (NUM-8, NUM-37, NUM-39, NUM-40).
struct ElementwiseCall {
    canonical::Op op = canonical::Op::kAdd;
    canonical::DType dtype = canonical::DType::kF32;  ///< of the output
    std::array<std::uint32_t, 2> attributes{};
    std::array<Operand, 3> in{};
    Rank rows = 0;
    Rank cols = 0;
    void* out = nullptr;
};

struct DrawCall {
    std::uint32_t attribute = 0;  ///< the node's first
    std::uint32_t tensor = 0;     ///< the node's second
    const Clock* clock = nullptr;
    Rank count = 0;
    float* out = nullptr;
};

class Kernels {
  public:
    virtual ~Kernels() = default;

    /// Sets the stream (a cudaStream_t) of the following calls; host kernels ignore it.
    virtual void use_stream(void* stream) = 0;

    /// Computes exponents (NUM-13): e [rows, ceil(cols / chunk)].
    virtual void row_exponent(const float* x, Rank rows, Rank cols, Rank chunk, std::int32_t* e) = 0;
    /// Quantises (NUM-14).
    virtual void quantise(const QuantiseCall& call) = 0;
    /// Dequantises (NUM-15): e [rows or 1, 1], with row stride 1 or 0.
    virtual void dequantise(
        const std::int64_t* q, const std::int32_t* e, Rank e_row_stride, Rank rows, Rank cols, std::uint32_t precision,
        float* out
    ) = 0;
    virtual void finish(const FinishCall& call) = 0;
    virtual void elementwise(const ElementwiseCall& call) = 0;
    /// Draws random numbers (NUM-32, NUM-35).
    virtual void uniform(const DrawCall& call) = 0;
    virtual void bernoulli(const DrawCall& call) = 0;
    /// Sets `found` to 1 if an element is an infinity or NaN (NUM-6), and leaves it as it is otherwise. `x` has the
    /// bits of f32 or of bf16 elements.
    virtual void find_not_finite(const std::uint32_t* x, Rank count, std::int32_t* found) = 0;
    virtual void find_not_finite(const std::uint16_t* x, Rank count, std::int32_t* found) = 0;
};

/// Whether Kernels::elementwise supports the operation.
bool is_elementwise(canonical::Op op);

/// Returns kernels that run the same bodies in loops on the host: slow, for tests without a device.
std::unique_ptr<Kernels> make_host_kernels();
#ifdef ASSAY_WITH_CUDA
/// Returns kernels for the current device. Throws std::runtime_error if CUDA fails; so does a call whose kernel cannot
/// be launched.
std::unique_ptr<Kernels> make_cuda_kernels();
#endif

}  // namespace assay::engine::cuda
