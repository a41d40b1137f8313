// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/state_parts.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include <core/base/assert.hpp>
#include <core/dispute/tile_leaves.hpp>

namespace assay::artifacts {
namespace {

constexpr std::uint32_t kColumnsAtOnce = 64 * canonical::kTileDim;

}  // namespace

StateParts::StateParts(const ExpectedState& state, Leaves leaves) : leaves_(std::move(leaves)), head_(head_of(state)) {
    ASSERT(leaves_.size() == state.tensors.size());
    std::uint64_t offset = head_.size();
    const auto end_part = [&] {
        ends_.push_back(offset);
        row_ends_.push_back(rows_.size());
    };
    end_part();
    for (std::size_t i = 0; i < state.tensors.size(); ++i) {
        const canonical::TensorType type = state.tensors[i].type;
        types_.push_back(type);
        if (!state.lacking.empty() && state.lacking[i]) {
            continue;
        }
        for (std::uint32_t row = 0; row < canonical::tile_rows(type.shape); ++row) {
            rows_.push_back({.tensor = i, .index = row, .offset = offset});
            const std::uint32_t height = std::min(canonical::kTileDim, type.shape.rows - row * canonical::kTileDim);
            offset += std::uint64_t{height} * type.shape.cols * canonical::size_of(type.dtype);
            if (offset - ends_.back() >= UncheckedParts::kPartBytes) {
                end_part();
            }
        }
    }
    if (offset > ends_.back()) {
        end_part();
    }
}

bool StateParts::is_right(std::uint64_t part, const File& file) const {
    if (part == 0) {
        Bytes found(head_.size());
        file.read_at(0, found);
        return found == head_;
    }
    return std::all_of(
        rows_.begin() + static_cast<std::ptrdiff_t>(row_ends_[part - 1]),
        rows_.begin() + static_cast<std::ptrdiff_t>(row_ends_[part]),
        [&](const Row& row) { return is_right(row, file); }
    );
}

bool StateParts::is_right(const Row& row, const File& file) const {
    const auto [dtype, shape] = types_[row.tensor];
    const std::uint64_t element = canonical::size_of(dtype);
    const std::uint32_t height = std::min(canonical::kTileDim, shape.rows - row.index * canonical::kTileDim);
    auto expected = leaves_[row.tensor].begin() +
                    static_cast<std::ptrdiff_t>(std::uint64_t{row.index} * canonical::tile_cols(shape));
    for (std::uint32_t col = 0; col < shape.cols; col += std::min(kColumnsAtOnce, shape.cols - col)) {
        const std::uint32_t width = std::min(kColumnsAtOnce, shape.cols - col);
        canonical::Tensor piece = canonical::make_tensor(dtype, {height, width});
        const std::uint64_t line = width * element;
        for (std::uint32_t i = 0; i < height; ++i) {
            file.read_at(
                row.offset + (std::uint64_t{i} * shape.cols + col) * element,
                std::span(piece.data).subspan(i * line, line)
            );
        }
        const std::vector<Hash256> leaves = dispute::tile_leaves(piece);
        if (!std::equal(leaves.begin(), leaves.end(), expected)) {
            return false;
        }
        expected += static_cast<std::ptrdiff_t>(leaves.size());
    }
    return true;
}

bool StateParts::is_same(std::uint64_t part, const Leaves& other) const {
    if (part == 0) {
        return true;
    }
    return std::all_of(
        rows_.begin() + static_cast<std::ptrdiff_t>(row_ends_[part - 1]),
        rows_.begin() + static_cast<std::ptrdiff_t>(row_ends_[part]),
        [&](const Row& row) {
            const std::uint64_t count = canonical::tile_cols(types_[row.tensor].shape);
            const auto first = static_cast<std::ptrdiff_t>(row.index * count);
            const auto& own = leaves_[row.tensor];
            return std::equal(
                own.begin() + first, own.begin() + first + static_cast<std::ptrdiff_t>(count),
                other[row.tensor].begin() + first
            );
        }
    );
}

}  // namespace assay::artifacts
