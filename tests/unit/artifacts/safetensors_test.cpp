// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::artifacts {
namespace {

// Strings, for g++ 12 falsely warns of a literal before an inlined sum.
const std::string kOpen = "{";
const std::string kQuote = "\"";

using canonical::DType;

Bytes vector_file(const std::string& name) {
    return test::file_bytes(folders::source() + "/tests/vectors/safetensors/" + name);
}

/// A file of any header and `data_bytes` zeros.
Bytes file_of(const std::string& header, std::size_t data_bytes) {
    Bytes out(8);
    const std::uint64_t length = header.size();
    for (std::size_t i = 0; i < 8; ++i) {
        out[i] = static_cast<std::uint8_t>(length >> (8 * i));
    }
    append(out, as_bytes(header));
    out.resize(out.size() + data_bytes);
    return out;
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape, int begin, int end) {
    return kQuote + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
           std::to_string(begin) + "," + std::to_string(end) + "]}";
}

template <class T>
T element(const canonical::Tensor& t, std::size_t i) {
    T out{};
    std::memcpy(&out, t.data.data() + i * sizeof out, sizeof out);
    return out;
}

TEST_CASE("ART-1: files of the reference implementation are read") {
    const auto file = decode_safetensors(vector_file("mixed.safetensors"));
    REQUIRE(file.has_value());
    CHECK(file->metadata == std::map<std::string, std::string>{{"format", "np"}, {"note", "a \"quoted\" \u00e9"}});
    REQUIRE(file->tensors.size() == 5);
    for (const auto& [name, t] : file->tensors) {
        if (name == "weight") {
            CHECK(t.dtype == DType::kF32);
            CHECK(t.shape == canonical::Shape{2, 3});
            CHECK(element<float>(t, 5) == 1.25F);
        } else if (name == "ids") {
            CHECK(t.dtype == DType::kI32);
            CHECK(element<std::int32_t>(t, 3) == -4);
        } else if (name == "sums") {
            CHECK(t.dtype == DType::kI64);
            CHECK(element<std::int64_t>(t, 0) == 1099511627776);
        } else if (name == "bias") {
            CHECK(t.shape == canonical::Shape{1, 3});
        } else {
            CHECK(name == "scalar");
            CHECK(t.shape == canonical::Shape{1, 1});
            CHECK(element<std::int32_t>(t, 0) == 7);
        }
    }
}

TEST_CASE("ART-3: types and ranks that no canonical tensor has are refused") {
    CHECK(decode_safetensors(vector_file("half.safetensors")).error() == SafetensorsError::kDType);
    CHECK(decode_safetensors(vector_file("cube.safetensors")).error() == SafetensorsError::kShape);
}

TEST_CASE("ART-5: writing is deterministic, keeps the order and pads to eight bytes") {
    SafetensorsFile file;
    file.metadata["b"] = "2";
    file.metadata["a"] = "1";
    for (const char* name : {"z", "a", "m"}) {
        canonical::Tensor t = canonical::make_tensor(DType::kI32, {2, 3});
        t.data[0] = static_cast<std::uint8_t>(name[0]);
        file.tensors.push_back({name, t});
    }
    const Bytes bytes = encode_safetensors(file);
    CHECK(bytes == encode_safetensors(file));
    CHECK(bytes[0] % 8 == 0);
    CHECK(bytes.size() % 8 == 0);
    const auto back = decode_safetensors(bytes);
    REQUIRE(back.has_value());
    CHECK(*back == file);
    CHECK(std::string(bytes.begin() + 8, bytes.begin() + 41) == "{\"__metadata__\":{\"a\":\"1\",\"b\":\"2\"}");
}

TEST_CASE("ART-2: hostile headers are refused, each for its own reason") {
    using E = SafetensorsError;
    struct Row {
        const char* what;
        Bytes bytes;
        E error;
    };
    const std::string good = tensor("a", "F32", "[1,2]", 0, 8);
    Bytes huge_length = file_of("{}", 0);
    huge_length[7] = 0xff;
    Bytes past_end = file_of("{}", 0);
    past_end[0] = 3;
    const std::vector<Row> rows{
        {"nothing", {}, E::kTruncated},
        {"half a length", Bytes(7), E::kTruncated},
        {"a length near 2^64", huge_length, E::kHeaderTooLong},
        {"a header beyond the end", past_end, E::kTruncated},
        {"an empty header", file_of("", 0), E::kHeaderJson},
        {"an array", file_of("[]", 0), E::kHeaderJson},
        {"a space before the brace", file_of(" {}", 0), E::kHeaderJson},
        {"a newline after the brace", file_of("{}\n", 0), E::kHeaderJson},
        {"two objects", file_of("{}{}", 0), E::kHeaderJson},
        {"cut off", file_of(kOpen + good, 8), E::kHeaderJson},
        {"a bad escape", file_of("{\"\\x\":{}}", 0), E::kHeaderJson},
        {"not UTF-8", file_of("{\"\xff\":{}}", 0), E::kHeaderJson},
        {"overlong UTF-8", file_of("{\"\xc0\x80\":{}}", 0), E::kHeaderJson},
        {"a name twice", file_of(kOpen + good + "," + good + "}", 8), E::kDuplicateKey},
        {"metadata twice", file_of("{\"__metadata__\":{},\"__metadata__\":{}}", 0), E::kDuplicateKey},
        {"a metadata key twice", file_of("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0), E::kDuplicateKey},
        {"dtype twice", file_of("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0), E::kDuplicateKey},
        {"metadata of a number", file_of("{\"__metadata__\":{\"a\":1}}", 0), E::kHeaderField},
        {"nested metadata", file_of("{\"__metadata__\":{\"a\":{}}}", 0), E::kHeaderField},
        {"metadata as a string", file_of("{\"__metadata__\":\"x\"}", 0), E::kHeaderField},
        {"a tensor of null", file_of("{\"a\":null}", 0), E::kHeaderField},
        {"a tensor as an array", file_of("{\"a\":[]}", 0), E::kHeaderField},
        {"no dtype", file_of("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4), E::kHeaderField},
        {"no shape", file_of("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4), E::kHeaderField},
        {"no offsets", file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4), E::kHeaderField},
        {"an unknown key", file_of("{\"a\":{\"stride\":[1]}}", 0), E::kHeaderField},
        {"one offset", file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4), E::kHeaderField},
        {"a negative offset", file_of(kOpen + tensor("a", "F32", "[1,2]", -8, 0) + "}", 8), E::kHeaderField},
        {"a fractional dimension", file_of(kOpen + tensor("a", "F32", "[1.0]", 0, 4) + "}", 4), E::kHeaderField},
        {"a number beyond u64", file_of(kOpen + tensor("a", "F32", "[18446744073709551616]", 0, 4) + "}", 4),
         E::kHeaderField},
        {"a nested shape", file_of(kOpen + tensor("a", "F32", "[[1]]", 0, 4) + "}", 4), E::kHeaderField},
        {"a shape as text", file_of(kOpen + tensor("a", "F32", "\"1\"", 0, 4) + "}", 4), E::kHeaderField},
        {"a double", file_of(kOpen + tensor("a", "F64", "[1]", 0, 8) + "}", 8), E::kDType},
        {"three dimensions", file_of(kOpen + tensor("a", "F32", "[1,1,1]", 0, 4) + "}", 4), E::kShape},
        {"a hundred dimensions", file_of(kOpen + tensor("a", "F32", "[1,1,1,1,1,1,1,1,1,1,1,1]", 0, 4) + "}", 4),
         E::kShape},
        {"no rows", file_of(kOpen + tensor("a", "F32", "[0,4]", 0, 0) + "}", 0), E::kShape},
        {"2^32 columns", file_of(kOpen + tensor("a", "F32", "[1,4294967296]", 0, 4) + "}", 4), E::kShape},
        {"elements that overflow", file_of(kOpen + tensor("a", "I64", "[4294967295,4294967295]", 0, 8) + "}", 8),
         E::kSize},
        {"a short range", file_of(kOpen + tensor("a", "F32", "[1,2]", 0, 4) + "}", 4), E::kSize},
        {"a range backwards", file_of(kOpen + tensor("a", "F32", "[1,2]", 8, 0) + "}", 8), E::kSize},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const auto result = decode_safetensors(row.bytes);
        REQUIRE(!result.has_value());
        CHECK(result.error() == row.error);
    }
}

TEST_CASE("ART-4: ranges cover the data exactly, in any order") {
    using E = SafetensorsError;
    const auto two = [](int a, int b) {
        return kOpen + tensor("a", "F32", "[1,1]", a, a + 4) + "," + tensor("b", "F32", "[1,1]", b, b + 4) + "}";
    };
    CHECK(decode_safetensors(file_of(two(0, 4), 8)).has_value());
    CHECK(decode_safetensors(file_of(two(4, 0), 8)).has_value());
    CHECK(decode_safetensors(file_of(two(0, 0), 8)).error() == E::kLayout);
    CHECK(decode_safetensors(file_of(two(0, 2), 8)).error() == E::kLayout);
    CHECK(decode_safetensors(file_of(two(0, 5), 9)).error() == E::kLayout);
    CHECK(decode_safetensors(file_of(two(4, 8), 12)).error() == E::kLayout);
    CHECK(decode_safetensors(file_of(two(0, 4), 7)).error() == E::kTruncated);
    CHECK(decode_safetensors(file_of(two(0, 4), 9)).error() == E::kTrailingBytes);
    CHECK(decode_safetensors(file_of("{}", 1)).error() == E::kTrailingBytes);
    CHECK(decode_safetensors(file_of("{}", 0)).has_value());
}

TEST_CASE("ART-1: no mutation of a file crashes, and what is accepted can be written again") {
    const Bytes original = vector_file("mixed.safetensors");
    std::mt19937 random(7);  // NOLINT: the same every run
    int accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        Bytes bytes = original;
        const auto edits = 1 + random() % 3;
        for (std::uint32_t e = 0; e < edits; ++e) {
            const std::size_t at = random() % bytes.size();
            switch (random() % 4) {
                case 0:
                    bytes[at] = static_cast<std::uint8_t>(random());
                    break;
                case 1:
                    bytes[at] ^= static_cast<std::uint8_t>(1U << (random() % 8));
                    break;
                case 2:
                    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
                    break;
                default:
                    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes[random() % bytes.size()]);
            }
        }
        if (const auto file = decode_safetensors(bytes)) {
            ++accepted;
            const auto again = decode_safetensors(encode_safetensors(*file));
            REQUIRE(again.has_value());
            CHECK(*again == *file);
        }
    }
    CHECK(accepted > 0);
    for (std::size_t length = 0; length < original.size(); ++length) {
        CHECK(!decode_safetensors(ByteView(original).first(length)).has_value());
    }
}

}  // namespace
}  // namespace assay::artifacts
