// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/plan/layout.hpp>

using namespace assay::plan;

TEST_CASE("a layout's name is read, and written so that it is read again") {
    const auto layout = [](const char* name, std::uint32_t ranks) {
        const auto out = decode_layout(name, ranks);
        REQUIRE_MESSAGE(out.has_value(), name);
        CHECK(decode_layout(to_string(*out), ranks) == out);
        CHECK(out->ranks() == ranks);
        return *out;
    };
    CHECK(layout("dp", 4).data == 4);
    CHECK(layout("zero2", 3).zero == Zero::kGradients);
    CHECK(layout("zero2", 3).data == 3);
    CHECK(layout("dp2tp2", 4).tensor == 2);
    CHECK(layout("dp2tp", 6).tensor == 3);
    CHECK(layout("zero1+dp2tp2pp2", 8).stages == 2);
    CHECK(layout("zero1tp2", 8).data == 4);
    CHECK(layout("dp:5,3", 2).shares == std::vector<std::uint32_t>{5, 3});
    CHECK(layout("tp", 1).ranks() == 1);
    CHECK(layout("pp4+1f1b8", 4).micro_batches == 8);
    CHECK(layout("pp+1f1b8", 4).pipeline == Pipeline::kOneForwardOneBackward);
    CHECK(layout("pp+1f1b8", 1).micro_batches == 1);
    CHECK(layout("pp+gpipe8", 1) == layout("pp+1f1b8", 1));
    CHECK(layout("dp2pp2+gpipe4", 4).pipeline == Pipeline::kGPipe);
    CHECK(layout("zero1+dp2pp2+gpipe4:5,3", 4).shares.size() == 2);
    CHECK(layout("turns", 4).turns == 4);
    CHECK(layout("turns", 1) == layout("dp", 1));
}

TEST_CASE("shares belong to the part before them, and at the end to the batch where that is divided") {
    const auto layout = [](const std::string& name, std::uint32_t ranks, const std::string& written) {
        CAPTURE(name);
        const auto out = decode_layout(name, ranks);
        REQUIRE(out.has_value());
        CHECK(to_string(*out) == written);
        CHECK(decode_layout(written, ranks) == out);
        return *out;
    };
    using Shares = std::vector<std::uint32_t>;
    CHECK(layout("pp:5,3", 2, "pp:5,3") == Layout{.stages = 2, .stage_shares = {5, 3}});
    CHECK(layout("pp2:5,3", 2, "pp:5,3").stage_shares == Shares{5, 3});
    CHECK(layout("pp:5,3+1f1b4", 2, "pp:5,3+1f1b4").micro_batches == 4);
    CHECK(layout("tp:3,2,1", 3, "tp:3,2,1") == Layout{.tensor = 3, .tensor_shares = {3, 2, 1}});
    const Layout both = layout("pp:5,3+dp2", 4, "pp:5,3+dp2");
    CHECK(both == Layout{.data = 2, .stages = 2, .stage_shares = {5, 3}});
    CHECK(layout("pp:5,3+dp", 6, "pp:5,3+dp3").data == 3);
    CHECK(layout("tp:2,1+pp:5,3", 4, "tp:2,1+pp:5,3").tensor_shares == Shares{2, 1});
    const Layout all = layout("dp:7,4+tp:2,1+pp:5,3", 8, "tp:2,1+pp:5,3+dp2:7,4");
    CHECK(all.shares == Shares{7, 4});
    CHECK(all.stage_shares == Shares{5, 3});
    CHECK(layout("pp:5,3+zero1+1f1b2:7,4", 4, "pp:5,3+zero1+dp2+1f1b2:7,4").data == 2);
    // As before other parts could have shares.
    CHECK(layout("dp2pp:5,3", 4, "dp2pp2:5,3") == Layout{.data = 2, .stages = 2, .shares = {5, 3}});
    CHECK(layout("pp2:5", 2, "pp2:5") == Layout{.stages = 2, .shares = {5}});
    CHECK(both.without_shares() == *decode_layout("dp2pp2", 4));
}

TEST_CASE("shares that do not fit their part are refused") {
    for (const char* name :
         {"pp:5,3", "pp2:5,3", "pp:1,2,3,0", "pp:1,2,3,4+", "pp:1,2,3,4+pp2", "pp3:1,1,1,1", "pp:1,1+", "pp:1,1,+dp2",
          "dp2pp2:1,2,3", "dp3pp:1,1", "tp:1,1,1,0", "tp:1,1,1,65537", "pp:5+dp4", "dp4+"}) {
        CHECK_MESSAGE(!decode_layout(name, 4).has_value(), name);
    }
    CHECK(!Layout{.data = 2, .shares = {0, 0}}.is_valid());
    CHECK(!Layout{.data = 2, .shares = {1, kShareMax + 1}}.is_valid());
    CHECK(Layout{.data = 2, .shares = {0, kShareMax}}.is_valid());
    CHECK(!Layout{.stages = 2, .stage_shares = {1, 0}}.is_valid());
    CHECK(!Layout{.stages = 2, .stage_shares = {1}}.is_valid());
    CHECK(!Layout{.stage_shares = {1}}.is_valid());
    CHECK(!Layout{.tensor = 2, .tensor_shares = {1, kShareMax + 1}}.is_valid());
    CHECK(!Layout{.tensor_shares = {1}, .turns = 2}.is_valid());
}

TEST_CASE("ranks stand by stage, then by part of the batch, then by part of the layer") {
    const Layout layout = *decode_layout("dp3tp2pp2", 12);
    CHECK(layout.stage_index(7) == 1);
    CHECK(layout.data_index(9) == 1);
    CHECK(layout.tensor_index(9) == 1);
    CHECK(layout.stage_index(5) == 0);
}

TEST_CASE("a name that is no layout for so many ranks is none") {
    for (const char* name :
         {"",
          "dp3",
          "dp2",
          "dp0",
          "xp",
          "dpdp",
          "dp2dp2",
          "zero4",
          "zero",
          "zero1zero2",
          "dp:1,1",
          "dp4:1,2,3",
          "dp4:0,0,0,0",
          "dp4:",
          "dp4:1,1,1,",
          "dptp",
          "dp99999999999",
          "dp4 ",
          "dp4+1f1b2",
          "pp4+1f1b",
          "pp4+1f1b1",
          "pp4+1f1b65",
          "pp4+1f1b2+gpipe2",
          "pp2tp2+1f1b2",
          "zero2+dp2pp2+gpipe2",
          "turns2",
          "turns+dp2",
          "turns:1,1,1,1"}) {
        CHECK_MESSAGE(!decode_layout(name, 4).has_value(), name);
    }
    CHECK(!decode_layout("dp", 0));
    CHECK(!decode_layout("dp", kMaxRanks + 1));
    CHECK(!decode_layout("turns", kMaxRanks + 1));
    CHECK(!Layout{.data = 2, .turns = 2}.is_valid());
    CHECK(!Layout{.turns = 0}.is_valid());
    CHECK(!Layout{.turns = 1U << 31U}.is_valid());
}
