// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>
#include <verifier/compile/program/graph_builder.hpp>

/// Graphs of a few nodes on the scalar executor, with plain vectors of numbers going in and out.
namespace assay::test {

/// A row-major matrix of floats, or of whole numbers that become i32.
struct Matrix {
    canonical::Shape shape;
    std::vector<double> values;
    canonical::DType dtype = canonical::DType::kF32;
};

inline canonical::Tensor to_tensor(const Matrix& matrix) {
    ASSERT(matrix.values.size() == matrix.shape.element_count());
    canonical::Tensor tensor = canonical::make_tensor(matrix.dtype, matrix.shape);
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
        const auto bits = matrix.dtype == canonical::DType::kF32
                              ? std::bit_cast<std::uint32_t>(static_cast<float>(matrix.values[i]))
                              : static_cast<std::uint32_t>(static_cast<std::int32_t>(matrix.values[i]));
        std::memcpy(tensor.data.data() + i * 4, &bits, 4);
    }
    return tensor;
}

inline Matrix to_matrix(const canonical::Tensor& tensor) {
    Matrix matrix{tensor.shape, {}, tensor.dtype};
    for (std::size_t i = 0; i < tensor.shape.element_count(); ++i) {
        if (tensor.dtype == canonical::DType::kF32) {
            float value = 0;
            std::memcpy(&value, tensor.data.data() + i * 4, 4);
            matrix.values.push_back(static_cast<double>(value));
        } else {
            std::int32_t value = 0;
            std::memcpy(&value, tensor.data.data() + i * 4, 4);
            matrix.values.push_back(value);
        }
    }
    return matrix;
}

/// A dataset for graphs that read none.
class NoRows final : public canonical::RowSource {
  public:
    canonical::DatasetShape shape() const override { return {1, 1}; }
    Bytes row(std::uint64_t) const override { return row_; }

  private:
    Bytes row_ = Bytes(4, 0);
};

/// What the graph commits to. `step` is what kStepCount and random numbers see.
inline std::vector<Matrix> run(
    const canonical::Graph& graph, const std::vector<Matrix>& state, std::uint64_t step = 0
) {
    std::vector<canonical::Tensor> tensors;
    for (const Matrix& matrix : state) {
        tensors.push_back(to_tensor(matrix));
    }
    const NoRows rows;
    const auto next =
        canonical::execute_graph(graph, {.seed = 5, .step = step, .dataset = rows.shape()}, rows, tensors);
    ASSERT(next.has_value());
    std::vector<Matrix> out;
    for (const canonical::Tensor& tensor : *next) {
        out.push_back(to_matrix(tensor));
    }
    return out;
}

/// The state tensors of a graph that reads `state`.
inline std::vector<program::Value> state_values(const std::vector<Matrix>& state) {
    std::vector<program::Value> values;
    for (const Matrix& matrix : state) {
        const auto index = static_cast<std::uint32_t>(values.size());
        values.push_back(program::GraphBuilder::state(index, {matrix.dtype, matrix.shape}));
    }
    return values;
}

/// What `write` makes of `state`.
using Write = std::function<std::vector<program::Value>(program::GraphBuilder&, const std::vector<program::Value>&)>;
inline std::vector<Matrix> evaluate(const Write& write, const std::vector<Matrix>& state, std::uint64_t step = 0) {
    program::GraphBuilder graph;
    const std::vector<program::Value> out = write(graph, state_values(state));
    return run(std::move(graph).commit(out), state, step);
}

/// Numbers that only their seed decides.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
    std::uint64_t next() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return state_ >> 11U;
    }
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }
    double real(double low, double high) {
        return low + (high - low) * static_cast<double>(below(1U << 24U)) * 0x1p-24;
    }

  private:
    std::uint64_t state_;
};

inline Matrix random_matrix(canonical::Shape shape, std::uint64_t seed, double low = -1.0, double high = 1.0) {
    Numbers numbers(seed);
    Matrix matrix{shape, {}};
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        matrix.values.push_back(static_cast<double>(static_cast<float>(numbers.real(low, high))));
    }
    return matrix;
}

/// The same numbers -1, -1+d, .. 1 in a random order: no two closer than d, and none closer than d/2 to 0.
inline Matrix spaced_matrix(canonical::Shape shape, std::uint64_t seed) {
    Numbers numbers(seed);
    const std::size_t count = shape.element_count();
    Matrix matrix{shape, {}};
    for (std::size_t i = 0; i < count; ++i) {
        matrix.values.push_back((2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(count) - 1.0);
        if (matrix.values.back() == 0.0) {
            matrix.values.back() = 0.5 / static_cast<double>(count);
        }
        std::swap(matrix.values[i], matrix.values[numbers.below(i + 1)]);
    }
    return matrix;
}

}  // namespace assay::test
