// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/artifacts/dataset.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

std::vector<std::int32_t> values(ByteView row) {
    std::vector<std::int32_t> out(row.size() / 4);
    std::memcpy(out.data(), row.data(), row.size());
    return out;
}

TEST_CASE("ART-9: text becomes windows of ids in code point order, each stored once") {
    const auto built = build_text_dataset("b\u00e9ab", 2);
    REQUIRE(built.has_value());
    CHECK(built->vocabulary == "ab\u00e9");
    CHECK(built->vocabulary_size == 3);
    const Dataset& dataset = built->dataset;
    CHECK(
        dataset.shape() ==
        canonical::DatasetShape{.rows = 2, .width = 3, .overlap = 2, .storage = canonical::Storage::kU8}
    );
    CHECK(std::ranges::equal(dataset.stored(), Bytes{1, 2, 0, 1}));
    CHECK(values(dataset.row(0)) == std::vector<std::int32_t>{1, 2, 0});
    CHECK(values(dataset.row(1)) == std::vector<std::int32_t>{2, 0, 1});
}

TEST_CASE("ART-9: text that is not UTF-8 or too short is refused") {
    for (const char* bad :
         {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ab\xe2\x82", "\x80", "\xe0\x80\x80"}) {
        CAPTURE(bad);
        CHECK(build_text_dataset(bad, 0).error() == DatasetError::kText);
    }
    CHECK(build_text_dataset("abc", 3).error() == DatasetError::kTooShort);
    CHECK(build_text_dataset("", 0).error() == DatasetError::kTooShort);
    CHECK(build_text_dataset("abcd", 3)->dataset.shape().rows == 1);
}

Bytes words_of(const std::vector<std::int32_t>& values) {
    Bytes out(values.size() * 4);
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

TEST_CASE("ART-8: rows are stored in the narrowest form that holds every value") {
    const std::vector<std::pair<std::vector<std::int32_t>, canonical::Storage>> cases{
        {{0, 255}, canonical::Storage::kU8},
        {{0, 256}, canonical::Storage::kU16},
        {{65'535, 1}, canonical::Storage::kU16},
        {{65'536, 1}, canonical::Storage::kI32},
        {{-1, 1}, canonical::Storage::kI32}};
    for (const auto& [row, storage] : cases) {
        const Dataset dataset = pack_rows(words_of(row), 2, false);
        CHECK(dataset.shape() == canonical::DatasetShape{.rows = 1, .width = 2, .storage = storage});
        CHECK(values(dataset.row(0)) == row);
    }
    const auto bits = [](float x) { return std::bit_cast<std::int32_t>(x); };
    const Dataset halves = pack_rows(words_of({bits(0.5F), bits(-65504.0F), bits(0x1p-24F), bits(0.0F)}), 2, true);
    CHECK(halves.shape().storage == canonical::Storage::kF16);
    CHECK(values(halves.row(1)) == std::vector<std::int32_t>{bits(0x1p-24F), 0});
    CHECK(pack_rows(words_of({bits(0.1F)}), 1, true).shape().storage == canonical::Storage::kI32);
    CHECK(pack_rows(words_of({bits(65536.0F)}), 1, true).shape().storage == canonical::Storage::kI32);
}

TEST_CASE("PRG-9: every half survives as the f32 that it is") {
    for (std::uint32_t half = 0; half <= 0xffffU; ++half) {
        const Bytes stored{static_cast<std::uint8_t>(half), static_cast<std::uint8_t>(half >> 8U)};
        const Bytes word = canonical::decode_values(canonical::Storage::kF16, stored);
        float value = 0;
        std::memcpy(&value, word.data(), sizeof value);
        const std::uint32_t exponent = half >> 10U & 0x1fU;
        const auto fraction = static_cast<float>(half & 0x3ffU);
        const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
        if (exponent == 0x1fU && fraction != 0) {
            CHECK(std::bit_cast<std::uint32_t>(value) == 0x7fc00000U);
            continue;
        }
        const float expected = exponent == 0x1fU ? std::numeric_limits<float>::infinity()
                               : exponent == 0   ? std::ldexp(fraction, -24)
                                                 : std::ldexp(1024.0F + fraction, static_cast<int>(exponent) - 25);
        CHECK(value == sign * expected);
        CHECK(canonical::encode_values(canonical::Storage::kF16, word) == stored);
    }
}

TEST_CASE("ART-8: a dataset has the bytes that its shape says") {
    const canonical::DatasetShape shape{.rows = 3, .width = 4, .overlap = 3, .storage = canonical::Storage::kU16};
    CHECK(canonical::byte_count(shape) == 12);
    CHECK(Dataset::make(shape, Bytes(11)).error() == DatasetError::kSize);
    CHECK(Dataset::make(shape, Bytes(13)).error() == DatasetError::kSize);
    const auto dataset = Dataset::make(shape, {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1});
    REQUIRE(dataset.has_value());
    CHECK(values(dataset->row(2)) == std::vector<std::int32_t>{3, 4, 5, 262});
}

/// The same rows from a source that knows only rows.
class OnlyRows final : public canonical::RowSource {
  public:
    explicit OnlyRows(const Dataset& of) : of_(of) {}
    canonical::DatasetShape shape() const override { return of_.shape(); }
    Bytes row(std::uint64_t index) const override { return of_.row(index); }

  private:
    const Dataset& of_;
};

TEST_CASE("TRC-6: chunks made of rows are those that are stored, whatever the overlap") {
    for (const std::uint32_t overlap : {0U, 1U, 6U}) {
        for (const auto storage : {canonical::Storage::kU8, canonical::Storage::kU16, canonical::Storage::kF16}) {
            const canonical::DatasetShape shape{.rows = 3'000, .width = 7, .overlap = overlap, .storage = storage};
            Bytes stored(canonical::byte_count(shape));
            for (std::size_t i = 0; i < stored.size(); ++i) {
                stored[i] = static_cast<std::uint8_t>(i * 37U % 61U);
            }
            const auto dataset = Dataset::make(shape, stored);
            REQUIRE(dataset.has_value());
            Bytes chunks;
            for (std::uint64_t i = 0; i < canonical::chunk_count(shape); ++i) {
                CHECK(OnlyRows(*dataset).chunk(i) == dataset->chunk(i));
                append(chunks, dataset->chunk(i));
            }
            CHECK(chunks == stored);
            CHECK(dataset_root(OnlyRows(*dataset)) == dataset_root(*dataset));
        }
    }
}

TEST_CASE("ART-8: a hold-out set is its rows of i32") {
    const canonical::Tensor rows{canonical::DType::kI32, {2, 3}, words_of({1, 2, 3, 4, 5, -6})};
    CHECK(decode_holdout(3, encode_holdout(rows)).value() == rows);
    CHECK(decode_holdout(4, encode_holdout(rows)).error() == DatasetError::kSize);
    CHECK(decode_holdout(3, {}).error() == DatasetError::kSize);
}

}  // namespace
}  // namespace assay::artifacts
