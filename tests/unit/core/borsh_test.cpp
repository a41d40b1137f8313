// SPDX-License-Identifier: Apache-2.0
#include <core/codec/borsh.hpp>

#include <random>
#include <string>

#include <doctest/doctest.h>

#include <tests/unit/core/vectors.hpp>

namespace assay::codec {
namespace {

using nlohmann::json;

struct Point {
    std::int32_t x = 0;
    std::int32_t y = 0;
    bool operator==(const Point&) const = default;
    static constexpr auto fields() { return Fields<&Point::x, &Point::y>{}; }
};

struct Nested {
    std::string name;
    Point at;
    std::vector<std::string> tags;
    std::optional<std::uint64_t> limit;
    std::map<std::uint16_t, std::uint32_t> shares;
    bool operator==(const Nested&) const = default;
    static constexpr auto fields() {
        return Fields<&Nested::name, &Nested::at, &Nested::tags, &Nested::limit, &Nested::shares>{};
    }
};

struct Stop {
    bool operator==(const Stop&) const = default;
    static constexpr auto fields() { return Fields<>{}; }
};

struct Say {
    std::string text;
    bool loud = false;
    bool operator==(const Say&) const = default;
    static constexpr auto fields() { return Fields<&Say::text, &Say::loud>{}; }
};

using Action = std::variant<Stop, Point, Say>;

enum class Colour : std::uint8_t { kRed = 1, kGreen = 2, kBlue = 4 };
constexpr bool is_valid(Colour colour) {
    return colour == Colour::kRed || colour == Colour::kGreen || colour == Colour::kBlue;
}

template <class T>
T integer(const json& value) {
    if (!value.is_string()) {
        return value.get<T>();
    }
    const auto text = value.get<std::string>();
    if constexpr (std::is_signed_v<T>) {
        return static_cast<T>(std::stoll(text));
    } else {
        return static_cast<T>(std::stoull(text));
    }
}

std::optional<std::uint64_t> limit_of(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(integer<std::uint64_t>(value));
}

Point point_of(const json& value) { return {value.at("x").get<std::int32_t>(), value.at("y").get<std::int32_t>()}; }

template <class K, class V>
std::map<K, V> map_of(const json& value) {
    std::map<K, V> out;
    for (const json& entry : value) {
        out[entry.at(0).get<K>()] = entry.at(1).get<V>();
    }
    return out;
}

Nested nested_of(const json& value) {
    return {
        value.at("name").get<std::string>(), point_of(value.at("at")), value.at("tags").get<std::vector<std::string>>(),
        limit_of(value.at("limit")), map_of<std::uint16_t, std::uint32_t>(value.at("shares"))};
}

Action action_of(const json& value) {
    if (value.contains("move")) {
        return point_of(value.at("move"));
    }
    if (value.contains("say")) {
        return Say{value.at("say").at("text").get<std::string>(), value.at("say").at("loud").get<bool>()};
    }
    return Stop{};
}

/// Encodes to the given bytes, decodes back from them, and no shorter or longer input is accepted.
template <class T>
void check(const T& value, const std::string& hex) {
    const Bytes bytes = hex_bytes(hex);
    CHECK(to_hex(encode(value)) == hex);
    const auto back = decode<T>(bytes);
    REQUIRE(back.has_value());
    CHECK(*back == value);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto cut = decode<T>(ByteView(bytes).first(size));
        REQUIRE_FALSE(cut.has_value());
        CHECK((cut.error() == DecodeError::kTruncated || cut.error() == DecodeError::kLengthTooLong));
    }
    Bytes longer = bytes;
    longer.push_back(0);
    CHECK(decode<T>(longer).error() == DecodeError::kTrailingBytes);
}

using Check = void (*)(const json&, const std::string&);

template <class T>
void check_integer(const json& value, const std::string& hex) {
    check(integer<T>(value), hex);
}

template <class T>
void check_plain(const json& value, const std::string& hex) {
    check(value.get<T>(), hex);
}

const std::map<std::string, Check>& checks() {
    static const std::map<std::string, Check> kChecks{
        {"u8", check_integer<std::uint8_t>},
        {"u16", check_integer<std::uint16_t>},
        {"u32", check_integer<std::uint32_t>},
        {"u64", check_integer<std::uint64_t>},
        {"i8", check_integer<std::int8_t>},
        {"i16", check_integer<std::int16_t>},
        {"i32", check_integer<std::int32_t>},
        {"i64", check_integer<std::int64_t>},
        {"bool", check_plain<bool>},
        {"string", check_plain<std::string>},
        {"bytes", check_plain<Bytes>},
        {"vec_u32", check_plain<std::vector<std::uint32_t>>},
        {"vec_string", check_plain<std::vector<std::string>>},
        {"array_u16_3", check_plain<std::array<std::uint16_t, 3>>},
        {"option_u64", [](const json& value, const std::string& hex) { check(limit_of(value), hex); }},
        {"map_string_u32",
         [](const json& value, const std::string& hex) { check(map_of<std::string, std::uint32_t>(value), hex); }},
        {"point", [](const json& value, const std::string& hex) { check(point_of(value), hex); }},
        {"nested", [](const json& value, const std::string& hex) { check(nested_of(value), hex); }},
        {"action", [](const json& value, const std::string& hex) { check(action_of(value), hex); }},
    };
    return kChecks;
}

TEST_CASE("COD-1 COD-2: encodings are those of borsh-js and neither a byte less nor more decodes") {
    const json vectors = json_vectors("borsh.json");
    CHECK(vectors.size() >= 30);
    for (const json& vector : vectors) {
        CAPTURE(vector.dump());
        checks().at(vector.at("type").get<std::string>())(vector.at("value"), vector.at("hex").get<std::string>());
    }
}

TEST_CASE("COD-3: an enum number, variant index, option tag or bool outside its set is refused") {
    check(Colour::kBlue, "04");
    check(std::variant<std::monostate, std::uint8_t>{}, "00");
    check(Hash256{}, std::string(64, '0'));
    for (const char* hex : {"00", "03", "05", "ff"}) {
        CHECK(decode<Colour>(hex_bytes(hex)).error() == DecodeError::kBadTag);
    }
    CHECK(decode<Action>(hex_bytes("03")).error() == DecodeError::kBadTag);
    CHECK(decode<std::optional<std::uint8_t>>(hex_bytes("0200")).error() == DecodeError::kBadTag);
    CHECK(decode<bool>(hex_bytes("02")).error() == DecodeError::kBadBool);
    CHECK(decode<Action>(hex_bytes("02000000000a")).error() == DecodeError::kBadBool);
}

TEST_CASE("COD-4: a string that is not strict UTF-8 is refused") {
    const auto text = [](const std::string& hex) {
        const Bytes bytes = hex_bytes(hex);
        return decode<std::string>(encode(bytes)).has_value();
    };
    for (const char* good :
         {"7f", "c280", "dfbf", "e0a080", "ed9fbf", "ee8080", "efbfbf", "f0908080", "f48fbfbf", "00"}) {
        CAPTURE(good);
        CHECK(text(good));
    }
    for (const char* bad :
         {"80", "bf", "c080", "c1bf", "c2", "c220", "e09fbf", "eda080", "edbfbf", "e282", "e28220", "f08fbfbf",
          "f4908080", "f5808080", "f0908020", "f09080", "ff", "fe", "61ff"}) {
        CAPTURE(bad);
        CHECK_FALSE(text(bad));
    }
    CHECK(decode<std::string>(hex_bytes("01000000ff")).error() == DecodeError::kBadUtf8);
}

TEST_CASE("COD-5: a length beyond the bytes left is refused before memory is taken") {
    const Bytes huge = hex_bytes("ffffffff00000000");
    CHECK(decode<Bytes>(huge).error() == DecodeError::kLengthTooLong);
    CHECK(decode<std::string>(huge).error() == DecodeError::kLengthTooLong);
    CHECK(decode<std::vector<Nested>>(huge).error() == DecodeError::kLengthTooLong);
    CHECK(decode<std::map<std::uint8_t, Hash256>>(huge).error() == DecodeError::kLengthTooLong);
    const Bytes one_missing = hex_bytes("020000000100000000000000");
    CHECK(decode<std::vector<std::uint64_t>>(one_missing).error() == DecodeError::kLengthTooLong);
}

TEST_CASE("COD-6: map keys that repeat or descend are refused") {
    using Map = std::map<std::uint8_t, std::uint8_t>;
    CHECK(decode<Map>(hex_bytes("0200000001000200")).has_value());
    CHECK(decode<Map>(hex_bytes("0200000002000100")).error() == DecodeError::kKeysNotSorted);
    CHECK(decode<Map>(hex_bytes("0200000001000100")).error() == DecodeError::kKeysNotSorted);
}

TEST_CASE("COD-2: whatever decodes encodes to the same bytes") {
    using Everything = std::variant<Nested, std::vector<Action>, std::map<std::string, Colour>, std::optional<Bytes>>;
    std::mt19937_64 random(7);
    std::size_t decoded = 0;
    for (int round = 0; round < 200000; ++round) {
        Bytes bytes(random() % 24);
        for (std::uint8_t& byte : bytes) {
            byte = static_cast<std::uint8_t>(random() % 8 == 0 ? random() : random() % 3);
        }
        const auto value = decode<Everything>(bytes);
        if (value) {
            ++decoded;
            REQUIRE(encode(*value) == bytes);
        }
    }
    CHECK(decoded > 20);
}

TEST_CASE("encode_to appends") {
    Bytes out{9};
    encode_to(out, std::uint16_t{1});
    encode_to(out, Stop{});
    CHECK(out == Bytes{9, 1, 0});
}

}  // namespace
}  // namespace assay::codec
