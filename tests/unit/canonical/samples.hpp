// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>

/// Random well-formed nodes with inputs, the same on every machine.
namespace assay::canonical::test {

/// SplitMix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    std::uint32_t next_u32() { return static_cast<std::uint32_t>(next() >> 32U); }
    /// 0 .. n-1
    std::uint32_t below(std::uint32_t n) {
        ASSERT(n > 0);
        return static_cast<std::uint32_t>(next() % n);
    }
    /// An exact f32 in [-1, 1).
    float unit();

  private:
    std::uint64_t state_;
};

/// kPlain: what training meets. kHostile: zeros of both signs, denormals, extreme exponents, infinities, NaN of any
/// payload, indices out of range, quantised values beyond their bound, exponents of any size.
enum class Kind : std::uint8_t { kPlain = 1, kHostile = 2 };

struct Sample {
    Node node;
    StepContext context;
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers() const;
};

/// All primitives but kCommit.
const std::vector<Op>& all_ops();
/// A node of `op` with random shapes and inputs.
Sample random_sample(Op op, Random& random, Kind kind);

std::uint32_t get_u32(const Tensor& tensor, std::size_t index);
float get_f32(const Tensor& tensor, std::size_t index);
std::int32_t get_i32(const Tensor& tensor, std::size_t index);
std::int64_t get_i64(const Tensor& tensor, std::size_t index);
/// The bits of a bf16, and an i8.
std::uint16_t get_u16(const Tensor& tensor, std::size_t index);
std::int8_t get_i8(const Tensor& tensor, std::size_t index);
void set_u32(Tensor& tensor, std::size_t index, std::uint32_t value);
void set_f32(Tensor& tensor, std::size_t index, float value);
void set_i32(Tensor& tensor, std::size_t index, std::int32_t value);
void set_i64(Tensor& tensor, std::size_t index, std::int64_t value);
void set_u16(Tensor& tensor, std::size_t index, std::uint16_t value);
void set_i8(Tensor& tensor, std::size_t index, std::int8_t value);

Tensor random_f32(Shape shape, Random& random, Kind kind);
Tensor random_i32(Shape shape, Random& random, std::int32_t low, std::int32_t high);
/// Of bf16 or i8; every bit pattern if hostile.
Tensor random_narrow(DType dtype, Shape shape, Random& random, Kind kind);

/// Dataset rows whose values follow from their position.
class CountingRows : public RowSource {
  public:
    explicit CountingRows(DatasetShape shape);
    DatasetShape shape() const override { return shape_; }
    Bytes row(std::uint64_t index) const override;

  private:
    DatasetShape shape_;
    Bytes data_;
};

/// The node's output by plain loops over whole tensors, written without the library's kernels.
Tensor reference(const Sample& sample, const RowSource& rows);

/// The one-step verifier's way: every tile by chaining execute_partial, operands found through the public functions.
/// `between` is called with every accumulator.
Tensor execute_by_partials(
    const Sample& sample, const RowSource& rows, const std::function<void(ByteView)>& between = {}
);

/// A node's Input for `tensor`.
Input input_of(const Tensor& tensor);

}  // namespace assay::canonical::test
