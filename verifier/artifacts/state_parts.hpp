// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/partial_file.hpp>
#include <verifier/artifacts/reference.hpp>

namespace assay::artifacts {

/// A checkpoint's file as ART-5 writes it, divided so that each part can be checked by the hashes of its tiles
/// (ART-16): first the header, then rows of tiles, which are 32 rows of a tensor, as many as make a part.
class StateParts final : public PartPlan {
  public:
    /// `leaves` are those of all tensors of the state.
    StateParts(const ExpectedState& state, Leaves leaves);
    using PartPlan::is_right;
    bool is_right(std::uint64_t part, const File& file) const override;
    bool needs_hash() const override { return false; }
    const char* mark() const override { return "s"; }

    /// The first part.
    const Bytes& head() const { return head_; }
    /// Returns whether the part is the same in another state of the same types, with these hashes.
    bool is_same(std::uint64_t part, const Leaves& other) const;

  private:
    /// A row of tiles.
    struct Row {
        std::size_t tensor = 0;
        std::uint32_t index = 0;
        std::uint64_t offset = 0;  ///< in the file
    };
    bool is_right(const Row& row, const File& file) const;

    std::vector<canonical::TensorType> types_;
    Leaves leaves_;
    Bytes head_;
    std::vector<Row> rows_;
    std::vector<std::size_t> row_ends_;  ///< for each part, in rows_
};

}  // namespace assay::artifacts
