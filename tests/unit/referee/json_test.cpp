// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <nlohmann/json.hpp>

#include <client/referee/json.hpp>

using namespace assay;
using nlohmann::json;

TEST_CASE("the referee writes JSON that a strict parser reads back") {
    std::string hostile = "quote \" backslash \\ newline \n tab \t bell \a </script> \xc3\xa9";
    hostile.push_back('\0');
    referee::JsonWriter out;
    out.text("text", hostile).number("small", 9'007'199'254'740'991U).number("large", 9'007'199'254'740'992U);
    out.boolean("yes", true).null("nothing").hex("bytes", Bytes{0, 255});
    out.begin_object("object").number("zero", 0).end_object();
    out.begin_array("list").begin_element().text("a", "").end_object().begin_element().end_object().end_array();
    out.begin_array("empty").end_array().boolean("no", false);
    const json expected{
        {"text", hostile},
        {"small", 9'007'199'254'740'991U},
        {"large", "9007199254740992"},
        {"yes", true},
        {"nothing", nullptr},
        {"bytes", "00ff"},
        {"object", {{"zero", 0}}},
        {"list", json::array({{{"a", ""}}, json::object()})},
        {"empty", json::array()},
        {"no", false}};
    CHECK(json::parse(out.finish()) == expected);
    CHECK(referee::JsonWriter().finish() == "{}");
}
