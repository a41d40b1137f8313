// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

#include <core/canonical/executor.hpp>

namespace assay::test {

/// A dataset whose value at (row, column) is a function's.
class FunctionRows final : public canonical::RowSource {
  public:
    using Function = std::function<std::int32_t(std::uint64_t row, std::uint32_t col)>;
    FunctionRows(canonical::DatasetShape shape, const Function& function) : shape_(shape) {
        data_.resize(shape.rows * shape.width * 4);
        for (std::uint64_t at = 0; at < shape.rows * shape.width; ++at) {
            const std::int32_t value = function(at / shape.width, static_cast<std::uint32_t>(at % shape.width));
            std::memcpy(data_.data() + at * 4, &value, 4);
        }
    }
    canonical::DatasetShape shape() const override { return shape_; }
    Bytes row(std::uint64_t index) const override {
        const std::size_t size = std::size_t{shape_.width} * 4;
        const ByteView row = ByteView(data_).subspan(index * size, size);
        return {row.begin(), row.end()};
    }

  private:
    canonical::DatasetShape shape_;
    Bytes data_;
};

/// Rows of features and a class, of which there are three, that a small model can learn. The last value of a row is the
/// class.
inline FunctionRows labelled_rows(std::uint64_t rows, std::uint32_t features) {
    return FunctionRows({rows, features + 1}, [=](std::uint64_t row, std::uint32_t col) {
        const auto label = static_cast<std::int32_t>(row % 3);
        const auto noise = static_cast<std::int32_t>((row * 7 + col * 13 + row * col) % 5);
        const auto part = static_cast<std::int32_t>(col * 3 / features);
        return col == features ? label : (part == label ? 8 : 0) + noise;
    });
}

}  // namespace assay::test
