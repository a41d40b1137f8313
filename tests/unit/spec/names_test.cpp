// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/names.hpp>

#include <doctest/doctest.h>

#include <contracts/state/slots.hpp>
#include <tools/spec/walk.hpp>

using namespace assay;
using namespace assay::spec;

namespace assay::spec_test {

enum class Colour : std::uint8_t { kRed = 1, kPaleBlue = 4, kBlack = 255 };
constexpr bool is_valid(Colour c) { return c == Colour::kRed || c == Colour::kPaleBlue || c == Colour::kBlack; }

struct Point {
    std::int32_t across = 0;
    Colour colour = Colour::kRed;
    static constexpr auto fields() { return Fields<&Point::across, &Point::colour>{}; }
};
struct Line {
    struct Dash {
        std::uint8_t length = 0;
        static constexpr auto fields() { return Fields<&Dash::length>{}; }
    };
    std::array<Point, 2> ends{};
    std::variant<std::monostate, Dash> style;
    std::optional<std::vector<Hash256>> marks;
    std::map<std::uint16_t, std::string> names;
    static constexpr auto fields() { return Fields<&Line::ends, &Line::style, &Line::marks, &Line::names>{}; }
};

}  // namespace assay::spec_test

using namespace assay::spec_test;

TEST_CASE("spec: names are those of the source") {
    CHECK(full_name<Point>() == "assay::spec_test::Point");
    CHECK(full_name<Line::Dash>() == "assay::spec_test::Line::Dash");
    CHECK(full_name<contracts::history::Paid>() == "assay::contracts::history::Paid");
    CHECK(member_name<&Point::across>() == "across");
    CHECK(member_name<&Line::Dash::length>() == "length");
    CHECK(schema_name("assay::contracts::history::Paid") == "history::Paid");
    CHECK(schema_name("assay::light::Header") == "light::Header");
    CHECK(to_snake("kMissedDeadline") == "missed_deadline");
    CHECK(to_snake("kF32") == "f32");
}

TEST_CASE("spec: enumerators are found up to the last number of a byte") {
    const std::vector<Enumerator> expected{{1, "red"}, {4, "pale_blue"}, {255, "black"}};
    CHECK(enumerators<Colour>() == expected);
}

TEST_CASE("spec: a walk writes down fields in order, with arrays, variants, options and maps") {
    Schema schema;
    Walker walker(schema);
    CHECK(walker.type<std::vector<Line>>() == "vec<spec_test::Line>");
    const Record& line = schema.records.at("spec_test::Line");
    REQUIRE(line.fields.size() == 4);
    CHECK(line.fields[0].name == "ends");
    CHECK(line.fields[0].type == "[spec_test::Point; 2]");
    CHECK(line.fields[1].type == "variant<unit, spec_test::Line::Dash>");
    CHECK(line.fields[2].type == "option<vec<Hash256>>");
    CHECK(line.fields[3].type == "map<u16, string>");
    CHECK(line.least_bytes == 2 * 5 + 1 + 1 + 4);
    CHECK(schema.records.at("spec_test::Point").fields[0].type == "i32");
    CHECK(schema.records.count("spec_test::Line::Dash") == 1);
    CHECK(schema.enumerations.at("spec_test::Colour").size() == 3);
    CHECK(schema.byte_arrays.at("Hash256") == 32);
    for (int i = 0; i < 100; ++i) {
        CHECK(schema.cases.at("spec_test::Line")()->next().size() >= line.least_bytes);
    }
}
