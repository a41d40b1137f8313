// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/dataset.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <core/base/assert.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

constexpr const char* kRowsName = "rows";
constexpr const char* kVocabularyName = "vocabulary";

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

void store_i32(Bytes& out, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
        out[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

}  // namespace

const char* to_string(DatasetError error) noexcept {
    switch (error) {
        case DatasetError::kFormat:
            return "it is not a safetensors file";
        case DatasetError::kTensor:
            return "it does not hold one i32 tensor named rows";
        case DatasetError::kWidth:
            return "its rows are too wide";
        case DatasetError::kText:
            return "the text is not UTF-8";
        case DatasetError::kTooShort:
            return "the text is shorter than one row";
    }
    return "";
}

Result<Dataset, DatasetError> Dataset::decode(ByteView safetensors) {
    auto file = decode_safetensors(safetensors);
    if (!file) {
        return Unexpected{DatasetError::kFormat};
    }
    if (file->tensors.size() != 1 || file->tensors[0].name != kRowsName ||
        file->tensors[0].tensor.dtype != canonical::DType::kI32) {
        return Unexpected{DatasetError::kTensor};
    }
    if (file->tensors[0].tensor.shape.cols > canonical::kMaxRowWidth) {
        return Unexpected{DatasetError::kWidth};
    }
    Dataset dataset;
    dataset.rows_ = std::move(file->tensors[0].tensor);
    if (const auto found = file->metadata.find(kVocabularyName); found != file->metadata.end()) {
        dataset.vocabulary_ = found->second;
    }
    return dataset;
}

canonical::DatasetShape Dataset::shape() const { return {.rows = rows_.shape.rows, .width = rows_.shape.cols}; }

ByteView Dataset::row(std::uint64_t index) const {
    ASSERT(index < rows_.shape.rows);
    const std::size_t row_bytes = std::size_t{4} * rows_.shape.cols;
    return ByteView(rows_.data).subspan(index * row_bytes, row_bytes);
}

Result<TextDataset, DatasetError> build_text_dataset(std::string_view text, std::uint32_t context) {
    ASSERT(context < canonical::kMaxRowWidth);
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
    const std::uint64_t width = std::uint64_t{context} + 1;
    if (characters.size() < width) {
        return Unexpected{DatasetError::kTooShort};
    }
    ASSERT(characters.size() <= std::numeric_limits<std::uint32_t>::max());
    TextDataset out;
    for (auto& [character, id] : ids) {
        id = out.vocabulary_size++;
        out.vocabulary += character;
    }
    out.shape = {.rows = characters.size() - width + 1, .width = static_cast<std::uint32_t>(width)};
    canonical::Tensor rows =
        canonical::make_tensor(canonical::DType::kI32, {static_cast<std::uint32_t>(out.shape.rows), out.shape.width});
    std::vector<std::uint32_t> sequence;
    sequence.reserve(characters.size());
    for (const std::string_view character : characters) {
        sequence.push_back(ids.at(character));
    }
    for (std::uint64_t row = 0; row < out.shape.rows; ++row) {
        for (std::uint64_t col = 0; col < width; ++col) {
            store_i32(rows.data, (row * width + col) * 4, sequence[row + col]);
        }
    }
    out.artifact = encode_safetensors(
        {.tensors = {{.name = kRowsName, .tensor = std::move(rows)}},
         .metadata = {{"context", std::to_string(context)}, {kVocabularyName, out.vocabulary}}}
    );
    return out;
}

Hash256 dataset_root(const canonical::RowSource& rows) { return dispute::dataset_tree(rows).root(); }

}  // namespace assay::artifacts
