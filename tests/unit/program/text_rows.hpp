// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <core/canonical/executor.hpp>

namespace assay::test {

/// Windows over a text that repeats a pattern with a slow drift: learnable, and every row is different.
class TextRows final : public canonical::RowSource {
  public:
    TextRows(std::uint64_t rows, std::uint32_t width, std::uint32_t vocabulary) : shape_{rows, width} {
        data_.resize(rows * width * 4);
        for (std::uint64_t at = 0; at < rows * width; ++at) {
            const std::uint64_t position = at / width + at % width;
            const auto symbol = static_cast<std::int32_t>((position * 7 + position / 5) % vocabulary);
            std::memcpy(data_.data() + at * 4, &symbol, 4);
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
