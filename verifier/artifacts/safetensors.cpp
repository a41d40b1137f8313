// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/safetensors.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>

namespace assay::artifacts {
namespace {

using canonical::DType;

const char* to_string(DType dtype) {
    switch (dtype) {
        case DType::kF32:
            return "F32";
        case DType::kI32:
            return "I32";
        case DType::kI64:
            return "I64";
        case DType::kBf16:
            return "BF16";
        case DType::kI8:
            return "I8";
    }
    return "";
}

constexpr const char* kMetadataName = "__metadata__";
constexpr std::size_t kLengthBytes = 8;

struct Entry {
    std::string name;
    std::optional<DType> dtype;
    std::optional<std::vector<std::uint64_t>> shape;
    std::optional<std::vector<std::uint64_t>> offsets;
};

/// Takes the header's events one by one, so that nothing is built that the format does not have. nlohmann calls these
/// names; every handler returns whether to go on.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
  public:
    SafetensorsError error = SafetensorsError::kHeaderJson;
    std::vector<Entry> entries;
    std::map<std::string, std::string> metadata;

    bool null() override { return fail(SafetensorsError::kHeaderField); }
    bool boolean(bool) override { return fail(SafetensorsError::kHeaderField); }
    bool number_integer(number_integer_t) override { return fail(SafetensorsError::kHeaderField); }
    bool number_float(number_float_t, const string_t&) override { return fail(SafetensorsError::kHeaderField); }
    bool binary(binary_t&) override { return fail(SafetensorsError::kHeaderField); }

    bool number_unsigned(number_unsigned_t value) override {
        if (place_ != Place::kShape && place_ != Place::kOffsets) {
            return fail(SafetensorsError::kHeaderField);
        }
        if (numbers_.size() == 8) {
            return fail(place_ == Place::kShape ? SafetensorsError::kShape : SafetensorsError::kHeaderField);
        }
        numbers_.push_back(value);
        return true;
    }

    bool string(string_t& value) override {
        if (place_ == Place::kMetadata) {
            metadata[key_] = value;
            return true;
        }
        if (place_ != Place::kTensor || key_ != "dtype") {
            return fail(SafetensorsError::kHeaderField);
        }
        for (const DType dtype : {DType::kF32, DType::kI32, DType::kI64, DType::kBf16, DType::kI8}) {
            if (value == to_string(dtype)) {
                entries.back().dtype = dtype;
                return true;
            }
        }
        return fail(SafetensorsError::kDType);
    }

    bool start_object(std::size_t) override {
        if (place_ == Place::kStart) {
            place_ = Place::kTop;
            return true;
        }
        if (place_ != Place::kTop) {
            return fail(SafetensorsError::kHeaderField);
        }
        keys_.clear();
        if (key_ == kMetadataName) {
            place_ = Place::kMetadata;
            return true;
        }
        if (entries.size() == kMaxSafetensorsTensors) {
            return fail(SafetensorsError::kHeaderTooLong);
        }
        place_ = Place::kTensor;
        entries.push_back(Entry{.name = key_, .dtype = {}, .shape = {}, .offsets = {}});
        return true;
    }

    bool key(string_t& name) override {
        auto& seen = place_ == Place::kTop ? names_ : keys_;
        if (!seen.insert(name).second) {
            return fail(SafetensorsError::kDuplicateKey);
        }
        if (place_ == Place::kTensor && name != "dtype" && name != "shape" && name != "data_offsets") {
            return fail(SafetensorsError::kHeaderField);
        }
        key_ = name;
        return true;
    }

    bool end_object() override {
        place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
        return true;
    }

    bool start_array(std::size_t) override {
        if (place_ != Place::kTensor || key_ == "dtype") {
            return fail(SafetensorsError::kHeaderField);
        }
        numbers_.clear();
        place_ = key_ == "shape" ? Place::kShape : Place::kOffsets;
        return true;
    }

    bool end_array() override {
        auto& target = place_ == Place::kShape ? entries.back().shape : entries.back().offsets;
        target = numbers_;
        place_ = Place::kTensor;
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return fail(SafetensorsError::kHeaderJson);
    }

  private:
    enum class Place : std::uint8_t { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

    bool fail(SafetensorsError why) {
        error = why;
        return false;
    }

    Place place_ = Place::kStart;
    std::string key_;
    std::set<std::string> names_;
    std::set<std::string> keys_;
    std::vector<std::uint64_t> numbers_;
};

/// A tensor's checked type and its bytes' place in the data.
struct Range {
    canonical::Shape shape;
    DType dtype = DType::kF32;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

Result<canonical::Shape, SafetensorsError> to_shape(const std::vector<std::uint64_t>& dimensions) {
    if (dimensions.size() > 2) {
        return Unexpected{SafetensorsError::kShape};
    }
    std::array<std::uint64_t, 2> sizes{1, 1};
    std::copy(dimensions.begin(), dimensions.end(), sizes.end() - static_cast<std::ptrdiff_t>(dimensions.size()));
    for (const std::uint64_t size : sizes) {
        if (size == 0 || size > std::numeric_limits<std::uint32_t>::max()) {
            return Unexpected{SafetensorsError::kShape};
        }
    }
    return canonical::Shape{static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1])};
}

Result<Range, SafetensorsError> check_entry(const Entry& entry) {
    if (!entry.dtype || !entry.shape || !entry.offsets || entry.offsets->size() != 2) {
        return Unexpected{SafetensorsError::kHeaderField};
    }
    TRY_ASSIGN(const canonical::Shape shape, to_shape(*entry.shape));
    const auto size_bytes = checked_mul<std::uint64_t>(shape.element_count(), canonical::size_of(*entry.dtype));
    const std::uint64_t begin = (*entry.offsets)[0];
    const std::uint64_t end = (*entry.offsets)[1];
    if (!size_bytes || end < begin || end - begin != *size_bytes) {
        return Unexpected{SafetensorsError::kSize};
    }
    return Range{.shape = shape, .dtype = *entry.dtype, .begin = begin, .end = end};
}

/// ART-4: in the order of their beginnings, the ranges cover the data without gap or overlap.
Result<void, SafetensorsError> check_layout(const std::vector<Range>& ranges, std::uint64_t data_bytes) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted;
    sorted.reserve(ranges.size());
    for (const Range& range : ranges) {
        sorted.emplace_back(range.begin, range.end);
    }
    std::sort(sorted.begin(), sorted.end());
    std::uint64_t covered = 0;
    for (const auto& [begin, end] : sorted) {
        if (begin != covered) {
            return Unexpected{SafetensorsError::kLayout};
        }
        covered = end;
    }
    if (covered > data_bytes) {
        return Unexpected{SafetensorsError::kTruncated};
    }
    if (covered < data_bytes) {
        return Unexpected{SafetensorsError::kTrailingBytes};
    }
    return {};
}

Result<void, SafetensorsError> read_header(ByteView header, HeaderHandler& handler) {
    std::size_t length = header.size();
    while (length > 0 && header[length - 1] == ' ') {
        --length;
    }
    if (length == 0 || header[0] != '{' || header[length - 1] != '}') {
        return Unexpected{SafetensorsError::kHeaderJson};
    }
    const auto* first = header.data();
    if (!nlohmann::json::sax_parse(first, first + length, &handler)) {
        return Unexpected{handler.error};
    }
    return {};
}

std::uint64_t decode_length(ByteView bytes) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        length |= std::uint64_t{bytes[i]} << (8 * i);
    }
    return length;
}

}  // namespace

Bytes encode_safetensors_head(
    const std::vector<NamedType>& tensors, const std::map<std::string, std::string>& metadata
) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) {
        header[kMetadataName] = metadata;
    }
    std::uint64_t offset = 0;
    for (const auto& [name, type] : tensors) {
        const std::string key(name);
        ASSERT(!header.contains(key) && key != kMetadataName);
        const std::uint64_t size = type.shape.element_count() * canonical::size_of(type.dtype);
        header[key] = {
            {"dtype", to_string(type.dtype)},
            {"shape", {type.shape.rows, type.shape.cols}},
            {"data_offsets", {offset, offset + size}}};
        offset += size;
    }
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');

    Bytes out;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        out.push_back(static_cast<std::uint8_t>(std::uint64_t{text.size()} >> (8 * i)));
    }
    append(out, as_bytes(text));
    return out;
}

Bytes encode_safetensors(const SafetensorsFile& file) {
    std::vector<NamedType> types;
    std::uint64_t data_bytes = 0;
    for (const auto& [name, tensor] : file.tensors) {
        ASSERT(tensor.data.size() == tensor.shape.element_count() * canonical::size_of(tensor.dtype));
        types.push_back({.name = name, .type = {.dtype = tensor.dtype, .shape = tensor.shape}});
        data_bytes += tensor.data.size();
    }
    Bytes out = encode_safetensors_head(types, file.metadata);
    out.reserve(out.size() + data_bytes);
    for (const NamedTensor& named : file.tensors) {
        append(out, named.tensor.data);
    }
    return out;
}

Result<SafetensorsLayout, SafetensorsError> decode_safetensors_layout(ByteView bytes) {
    if (bytes.size() < kLengthBytes) {
        return Unexpected{SafetensorsError::kTruncated};
    }
    const std::uint64_t length = decode_length(bytes);
    if (length > kMaxSafetensorsHeader) {
        return Unexpected{SafetensorsError::kHeaderTooLong};
    }
    if (length > bytes.size() - kLengthBytes) {
        return Unexpected{SafetensorsError::kTruncated};
    }
    HeaderHandler handler;
    TRY(read_header(bytes.subspan(kLengthBytes, length), handler));

    std::vector<Range> ranges;
    ranges.reserve(handler.entries.size());
    for (const Entry& entry : handler.entries) {
        TRY_ASSIGN(const Range range, check_entry(entry));
        ranges.push_back(range);
    }
    const std::uint64_t data_begin = kLengthBytes + length;
    TRY(check_layout(ranges, bytes.size() - data_begin));

    SafetensorsLayout layout{.tensors = {}, .metadata = std::move(handler.metadata)};
    layout.tensors.reserve(ranges.size());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        layout.tensors.push_back(
            {.name = std::move(handler.entries[i].name),
             .type = {.dtype = ranges[i].dtype, .shape = ranges[i].shape},
             .offset = data_begin + ranges[i].begin,
             .size_bytes = ranges[i].end - ranges[i].begin}
        );
    }
    return layout;
}

bool is_layout_of(const SafetensorsLayout& layout, ByteView bytes) {
    if (bytes.size() < kLengthBytes || decode_length(bytes) > bytes.size() - kLengthBytes ||
        layout.tensors.size() > kMaxSafetensorsTensors) {
        return false;
    }
    const std::uint64_t data_begin = kLengthBytes + decode_length(bytes);
    std::set<std::string_view> names;
    std::vector<Range> ranges;
    ranges.reserve(layout.tensors.size());
    for (const TensorPlace& place : layout.tensors) {
        const auto& [dtype, shape] = place.type;
        const auto size_bytes = checked_mul<std::uint64_t>(shape.element_count(), canonical::size_of(dtype));
        const bool is_sized = shape.rows > 0 && shape.cols > 0 && size_bytes && *size_bytes == place.size_bytes;
        const bool is_inside = place.offset >= data_begin && place.offset <= bytes.size() &&
                               place.size_bytes <= bytes.size() - place.offset;
        if (!is_sized || !is_inside || !names.insert(place.name).second) {
            return false;
        }
        const std::uint64_t begin = place.offset - data_begin;
        ranges.push_back({.shape = shape, .dtype = dtype, .begin = begin, .end = begin + place.size_bytes});
    }
    return check_layout(ranges, bytes.size() - data_begin).has_value();
}

SafetensorsFile take_tensors(SafetensorsLayout layout, ByteView bytes) {
    SafetensorsFile file{.tensors = {}, .metadata = std::move(layout.metadata)};
    file.tensors.reserve(layout.tensors.size());
    for (TensorPlace& place : layout.tensors) {
        const ByteView data = bytes.subspan(place.offset, place.size_bytes);
        file.tensors.push_back(
            {.name = std::move(place.name),
             .tensor = {.dtype = place.type.dtype, .shape = place.type.shape, .data = Bytes(data.begin(), data.end())}}
        );
    }
    return file;
}

Result<SafetensorsFile, SafetensorsError> decode_safetensors(ByteView bytes) {
    TRY_ASSIGN(SafetensorsLayout layout, decode_safetensors_layout(bytes));
    return take_tensors(std::move(layout), bytes);
}

}  // namespace assay::artifacts
