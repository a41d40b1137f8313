// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include <core/canonical/partial.hpp>
#include <verifier/engine/cuda/kernels.hpp>
#include <verifier/engine/backend/options.hpp>
#include <verifier/engine/torch/math.hpp>

/// Internal to the engine: our own kernels on libtorch tensors, which replace many passes of its operations.
namespace assay::engine {

/// A quantised operand of a contraction: the words, or what they are computed from, so that they need not be stored.
struct Quantised {
    at::Tensor words;  ///< i32 [rows,cols]; if undefined, x and e are defined
    at::Tensor x;      ///< f32 [rows,cols]
    at::Tensor e;      ///< i32 [rows or 1, chunks or 1]
    std::int64_t chunk = 0;
    std::uint32_t precision = 0;

    const at::Tensor& source() const { return words.defined() ? words : x; }
};

class DeviceKernels {
  public:
    /// Returns the kernels that `choice` selects on `device`; nullptr if libtorch's operations are to be used.
    static std::unique_ptr<DeviceKernels> make(at::Device device, KernelChoice choice);

    /// Whether compute() supports the operation.
    static bool is_known(canonical::Op op);
    /// Computes kRowExponent, kDequantise or an elementwise operation.
    at::Tensor compute(const canonical::Node& node, std::span<const at::Tensor> inputs);
    /// Sets the seed and the step of what is drawn from now on, also by what was recorded before.
    void set_clock(const canonical::StepContext& context, at::Device device);
    /// Computes kUniform or kBernoulli.
    at::Tensor draw(const canonical::Node& node, at::Device device);
    /// Sets the element of `found`, an i32, to 1 if an element of `x` is an infinity or NaN (NUM-6), which those of
    /// integers are not.
    void find_not_finite(const at::Tensor& x, at::Tensor& found);

    /// Returns the quantised values, [rows,cols] of kInt, kFloat or kDouble.
    at::Tensor quantised(const Quantised& q, at::ScalarType type);
    /// Like to_residues in engine/torch/residues.hpp.
    at::Tensor residues(const Quantised& q, std::int64_t groups, std::size_t count);

    /// The sums of one chunk's products.
    struct Sums {
        at::Tensor doubles;   ///< f64 [groups,M,N]
        at::Tensor upper;     ///< if defined, the sums are 2^12 * upper + doubles
        at::Tensor residues;  ///< used instead: output of multiply_residues in engine/torch/residues.hpp
    };
    /// NUM-17 for chunk `index`: the first chunk creates `total`, the last one `out`.
    void finish(
        const canonical::Node& node, const at::Tensor& e_left, const at::Tensor& e_right, const Sums& sums,
        std::int64_t index, at::Tensor& total, at::Tensor& out
    );

  private:
    explicit DeviceKernels(std::unique_ptr<cuda::Kernels> kernels) : kernels_(std::move(kernels)) {}
    cuda::Kernels& on_stream_of(at::Device device);

    std::unique_ptr<cuda::Kernels> kernels_;
    at::Tensor clock_;  // a cuda::Clock, as i64 [2]
    cuda::Clock time_;  // the same
};

}  // namespace assay::engine
