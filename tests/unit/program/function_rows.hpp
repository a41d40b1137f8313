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

}  // namespace assay::test
