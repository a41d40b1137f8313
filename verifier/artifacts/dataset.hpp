// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <core/canonical/executor.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] DatasetError : std::uint8_t{
    kFormat = 1,    ///< not a safetensors file
    kTensor = 2,    ///< ART-8: not exactly one tensor, i32, named "rows"
    kWidth = 3,     ///< ART-8: rows wider than canonical::kMaxRowWidth
    kText = 4,      ///< text that is not UTF-8
    kTooShort = 5,  ///< text shorter than one row
};
const char* to_string(DatasetError error) noexcept;

/// A dataset in memory: fixed-size rows of i32, read from a safetensors file with one tensor "rows" (ART-8).
class Dataset final : public canonical::RowSource {
  public:
    static Result<Dataset, DatasetError> decode(ByteView safetensors);
    canonical::DatasetShape shape() const override;
    ByteView row(std::uint64_t index) const override;
    /// All rows, [rows, width].
    const canonical::Tensor& tensor() const { return rows_; }
    /// The characters of a text dataset in order of their ids, as UTF-8; empty for other datasets.
    const std::string& vocabulary() const { return vocabulary_; }

  private:
    canonical::Tensor rows_;
    std::string vocabulary_;
};

/// A dataset made from text, ready to be put in a store.
struct TextDataset {
    Bytes artifact;  ///< safetensors; metadata "vocabulary" and "context"
    canonical::DatasetShape shape;
    std::string vocabulary;  ///< the distinct characters in code point order, as UTF-8
    std::uint32_t vocabulary_size = 0;
};

/// ART-9: the id of a character is its index among the text's distinct code points in ascending order. Row i has the
/// ids of characters i .. i+context: `context` inputs, then the character to predict. context < kMaxRowWidth. Fails
/// with DatasetError.
Result<TextDataset, DatasetError> build_text_dataset(std::string_view text, std::uint32_t context);

/// Returns the Merkle root of the rows, as used in task specs.
Hash256 dataset_root(const canonical::RowSource& rows);

}  // namespace assay::artifacts
