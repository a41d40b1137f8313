// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/dataset.hpp>
#include <core/canonical/executor.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/artifacts/partial_dataset.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] DatasetError : std::uint8_t{
    kSize = 1,      ///< ART-8: not as many bytes as the shape says
    kText = 2,      ///< text that is not UTF-8
    kTooShort = 3,  ///< text shorter than one row
};
const char* to_string(DatasetError error) noexcept;

/// A dataset in memory or in a file, in the form in which it is stored: its values and nothing else (ART-8). What is
/// in a file is read where it is used.
class Dataset final : public canonical::RowSource {
  public:
    /// `shape` must be valid. Fails with kSize.
    static Result<Dataset, DatasetError> make(const canonical::DatasetShape& shape, Bytes stored);
    /// The same for a file.
    static Result<Dataset, DatasetError> make(const canonical::DatasetShape& shape, StoredFile file);
    /// A dataset of which some chunks are there. row() and chunk() throw StoreError for what is not.
    explicit Dataset(std::shared_ptr<const PartialDataset> partial);
    canonical::DatasetShape shape() const override { return shape_; }
    Bytes row(std::uint64_t index) const override;
    Bytes chunk(std::uint64_t index) const override;
    /// All of its bytes. The dataset must not be a partial one.
    ByteView stored() const;

  private:
    using Stored = std::variant<Bytes, StoredFile, std::shared_ptr<const PartialDataset>>;
    static Result<Dataset, DatasetError> make_of(const canonical::DatasetShape& shape, Stored stored);
    const PartialDataset* partial() const;
    Dataset(const canonical::DatasetShape& shape, Stored stored) : shape_(shape), stored_(std::move(stored)) {}

    canonical::DatasetShape shape_;
    Stored stored_;
};

/// Rows of i32 that do not overlap, stored as narrowly as their values allow: as u8 or u16 if all of them fit, as f16
/// if `is_real` says that they are the bits of f32 and all of them are halves, otherwise as i32. `words` holds 4 bytes
/// for each value of at least one whole row.
Dataset pack_rows(Bytes words, std::uint32_t width, bool is_real);

/// The dataset of a text or of its tokens: every window of `context` + 1 consecutive ids is a row (ART-9), so each id
/// is stored once. Fails with kTooShort.
Result<Dataset, DatasetError> window_tokens(std::span<const std::uint32_t> ids, std::uint32_t context);

/// A dataset made from the characters of a text.
struct TextDataset {
    Dataset dataset;
    std::string vocabulary;  ///< the distinct characters in code point order, as UTF-8
    std::uint32_t vocabulary_size = 0;
};

/// ART-9: the id of a character is its index among the text's distinct code points in ascending order. Row i has the
/// ids of characters i .. i+context: `context` inputs, then the character to predict. Fails with DatasetError.
Result<TextDataset, DatasetError> build_text_dataset(std::string_view text, std::uint32_t context);

/// ART-8: a hold-out set as an artifact holds it: its rows of i32, 4 bytes for each value.
Bytes encode_holdout(const canonical::Tensor& rows);
/// Rows of `width` values. Fails with kSize.
Result<canonical::Tensor, DatasetError> decode_holdout(std::uint32_t width, ByteView stored);

/// Returns the Merkle root of the dataset, as used in task specs.
Hash256 dataset_root(const canonical::RowSource& rows);

}  // namespace assay::artifacts
