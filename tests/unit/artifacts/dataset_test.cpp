// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

std::vector<std::int32_t> values(ByteView row) {
    std::vector<std::int32_t> out(row.size() / 4);
    std::memcpy(out.data(), row.data(), row.size());
    return out;
}

TEST_CASE("ART-9: text becomes windows of ids in code point order") {
    const auto built = build_text_dataset("b\u00e9ab", 2);
    REQUIRE(built.has_value());
    CHECK(built->vocabulary == "ab\u00e9");
    CHECK(built->vocabulary_size == 3);
    CHECK(built->shape == canonical::DatasetShape{.rows = 2, .width = 3});
    const auto dataset = Dataset::decode(built->artifact);
    REQUIRE(dataset.has_value());
    CHECK(dataset->shape() == built->shape);
    CHECK(dataset->vocabulary() == built->vocabulary);
    CHECK(values(dataset->row(0)) == std::vector<std::int32_t>{1, 2, 0});
    CHECK(values(dataset->row(1)) == std::vector<std::int32_t>{2, 0, 1});
    CHECK(build_text_dataset("b\u00e9ab", 2)->artifact == built->artifact);
}

TEST_CASE("ART-9: text that is not UTF-8 or too short is refused") {
    for (const char* bad :
         {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ab\xe2\x82", "\x80", "\xe0\x80\x80"}) {
        CAPTURE(bad);
        CHECK(build_text_dataset(bad, 0).error() == DatasetError::kText);
    }
    CHECK(build_text_dataset("abc", 3).error() == DatasetError::kTooShort);
    CHECK(build_text_dataset("", 0).error() == DatasetError::kTooShort);
    CHECK(build_text_dataset("abcd", 3)->shape.rows == 1);
}

TEST_CASE("ART-8: a dataset has one i32 tensor named rows") {
    const auto vector = test::file_bytes(std::string(ASSAY_SOURCE_DIR) + "/tests/vectors/safetensors/rows.safetensors");
    const auto dataset = Dataset::decode(vector);
    REQUIRE(dataset.has_value());
    CHECK(dataset->shape() == canonical::DatasetShape{.rows = 4, .width = 3});
    CHECK(values(dataset->row(3)) == std::vector<std::int32_t>{9, 10, 11});
    CHECK(dataset->vocabulary().empty());

    const auto tensor_error = [](std::vector<NamedTensor> tensors) {
        return Dataset::decode(encode_safetensors({.tensors = std::move(tensors), .metadata = {}})).error();
    };
    const auto i32 = canonical::make_tensor(canonical::DType::kI32, {2, 2});
    CHECK(Dataset::decode(as_bytes("nonsense")).error() == DatasetError::kFormat);
    CHECK(tensor_error({}) == DatasetError::kTensor);
    CHECK(tensor_error({{"row", i32}}) == DatasetError::kTensor);
    CHECK(tensor_error({{"rows", i32}, {"more", i32}}) == DatasetError::kTensor);
    CHECK(tensor_error({{"rows", canonical::make_tensor(canonical::DType::kF32, {2, 2})}}) == DatasetError::kTensor);
    CHECK(tensor_error({{"rows", canonical::make_tensor(canonical::DType::kI32, {1, 4097})}}) == DatasetError::kWidth);
}

TEST_CASE("TRC-6: the dataset root is the Merkle root over its rows") {
    const auto dataset = Dataset::decode(build_text_dataset("hello world", 4)->artifact);
    REQUIRE(dataset.has_value());
    std::vector<Hash256> leaves;
    for (std::uint64_t i = 0; i < dataset->shape().rows; ++i) {
        leaves.push_back(dispute::row_leaf(dataset->row(i)));
    }
    CHECK(dataset_root(*dataset) == merkle::root_of(leaves));
}

}  // namespace
}  // namespace assay::artifacts
