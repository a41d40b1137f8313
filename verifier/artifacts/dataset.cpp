// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/dataset.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <core/base/assert.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

/// One code point off the front of `text` as the bytes that spell it; nullopt when it is not UTF-8.
std::optional<std::string_view> take_character(std::string_view& text) {
    const auto byte_at = [&text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte_at(0);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || length > text.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte_at(i) & 0xc0U) != 0x80U) {
            return std::nullopt;
        }
    }
    // Overlong forms, surrogates, and beyond U+10FFFF.
    if (length >= 3) {
        const std::uint8_t second = byte_at(1);
        if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) || (lead == 0xf0 && second < 0x90) ||
            (lead == 0xf4 && second >= 0x90)) {
            return std::nullopt;
        }
    }
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    return character;
}

void append_word(Bytes& out, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
        out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
}

/// The values in the first of `storages` that can hold them all; the last must.
Dataset store_narrowly(Bytes words, canonical::DatasetShape shape, std::span<const canonical::Storage> storages) {
    for (const canonical::Storage storage : storages) {
        if (auto stored = canonical::encode_values(storage, words)) {
            shape.storage = storage;
            auto dataset = Dataset::make(shape, *std::move(stored));
            ASSERT(dataset.has_value());
            return *std::move(dataset);
        }
    }
    ASSERT(false);
    std::abort();
}

constexpr std::array kIntegers{canonical::Storage::kU8, canonical::Storage::kU16, canonical::Storage::kI32};
constexpr std::array kReals{canonical::Storage::kF16, canonical::Storage::kI32};

}  // namespace

const char* to_string(DatasetError error) noexcept {
    switch (error) {
        case DatasetError::kSize:
            return "it has not the size that the program says";
        case DatasetError::kText:
            return "the text is not UTF-8";
        case DatasetError::kTooShort:
            return "the text is shorter than one row";
    }
    return "";
}

Result<Dataset, DatasetError> Dataset::make(const canonical::DatasetShape& shape, Bytes stored) {
    return make_of(shape, std::move(stored));
}

Result<Dataset, DatasetError> Dataset::make(const canonical::DatasetShape& shape, StoredFile file) {
    return make_of(shape, std::move(file));
}

Result<Dataset, DatasetError> Dataset::make_of(const canonical::DatasetShape& shape, Stored stored) {
    ASSERT(canonical::is_valid(shape));
    Dataset dataset(shape, std::move(stored));
    if (dataset.stored().size() != canonical::byte_count(shape)) {
        return Unexpected{DatasetError::kSize};
    }
    return dataset;
}

Dataset::Dataset(std::shared_ptr<const PartialDataset> partial)
    : shape_(partial->shape()), stored_(std::move(partial)) {}

const PartialDataset* Dataset::partial() const {
    const auto* partial = std::get_if<std::shared_ptr<const PartialDataset>>(&stored_);
    return partial != nullptr ? partial->get() : nullptr;
}

ByteView Dataset::stored() const {
    ASSERT(partial() == nullptr);
    const auto* file = std::get_if<StoredFile>(&stored_);
    return file != nullptr ? file->view() : ByteView(std::get<Bytes>(stored_));
}

Bytes Dataset::row(std::uint64_t index) const {
    ASSERT(index < shape_.rows);
    const std::uint64_t begin = canonical::byte_offset(shape_, {.row = index, .first = 0, .count = shape_.width});
    const std::size_t size_bytes = std::size_t{shape_.width} * size_of(shape_.storage);
    if (const PartialDataset* some = partial()) {
        return canonical::decode_values(shape_.storage, some->read(begin, size_bytes));
    }
    return canonical::decode_values(shape_.storage, stored().subspan(begin, size_bytes));
}

Bytes Dataset::chunk(std::uint64_t index) const {
    if (const PartialDataset* some = partial()) {
        return some->chunk(index);
    }
    const std::uint64_t begin = index * canonical::kChunkBytes;
    ASSERT(begin < stored().size());
    const ByteView chunk =
        stored().subspan(begin, std::min<std::uint64_t>(canonical::kChunkBytes, stored().size() - begin));
    return {chunk.begin(), chunk.end()};
}

Dataset pack_rows(Bytes words, std::uint32_t width, bool is_real) {
    const std::uint64_t row_bytes = std::uint64_t{width} * 4;
    ASSERT(width > 0 && !words.empty() && words.size() % row_bytes == 0);
    const canonical::DatasetShape shape{.rows = words.size() / row_bytes, .width = width};
    return is_real ? store_narrowly(std::move(words), shape, kReals)
                   : store_narrowly(std::move(words), shape, kIntegers);
}

Result<Dataset, DatasetError> window_tokens(std::span<const std::uint32_t> ids, std::uint32_t context) {
    ASSERT(context < canonical::kMaxDimension);
    const std::uint32_t width = context + 1;
    if (ids.size() < width) {
        return Unexpected{DatasetError::kTooShort};
    }
    Bytes words;
    words.reserve(ids.size() * 4);
    for (const std::uint32_t id : ids) {
        append_word(words, id);
    }
    return store_narrowly(
        std::move(words), {.rows = ids.size() - context, .width = width, .overlap = context}, kIntegers
    );
}

Result<TextDataset, DatasetError> build_text_dataset(std::string_view text, std::uint32_t context) {
    // The order of UTF-8 bytes is the order of code points.
    std::vector<std::string_view> characters;
    std::map<std::string_view, std::uint32_t> ids;
    while (!text.empty()) {
        const auto character = take_character(text);
        if (!character) {
            return Unexpected{DatasetError::kText};
        }
        characters.push_back(*character);
        ids.emplace(*character, 0);
    }
    std::string vocabulary;
    std::uint32_t vocabulary_size = 0;
    for (auto& [character, id] : ids) {
        id = vocabulary_size++;
        vocabulary += character;
    }
    std::vector<std::uint32_t> sequence;
    sequence.reserve(characters.size());
    for (const std::string_view character : characters) {
        sequence.push_back(ids.at(character));
    }
    TRY_ASSIGN(Dataset dataset, window_tokens(sequence, context));
    return TextDataset{
        .dataset = std::move(dataset), .vocabulary = std::move(vocabulary), .vocabulary_size = vocabulary_size};
}

Bytes encode_holdout(const canonical::Tensor& rows) {
    ASSERT(rows.dtype == canonical::DType::kI32);
    return rows.data;
}

Result<canonical::Tensor, DatasetError> decode_holdout(std::uint32_t width, ByteView stored) {
    const std::uint64_t row_bytes = std::uint64_t{width} * 4;
    ASSERT(width > 0);
    const std::uint64_t rows = stored.size() / row_bytes;
    if (rows == 0 || rows > canonical::kMaxDimension || stored.size() % row_bytes != 0) {
        return Unexpected{DatasetError::kSize};
    }
    return canonical::Tensor{
        .dtype = canonical::DType::kI32,
        .shape = {static_cast<std::uint32_t>(rows), width},
        .data = {stored.begin(), stored.end()}};
}

Hash256 dataset_root(const canonical::RowSource& rows) { return dispute::dataset_tree(rows).root(); }

}  // namespace assay::artifacts
