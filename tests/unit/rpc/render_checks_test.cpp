// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>

#include <contracts/state/spec.hpp>
#include <node/rpc/render.hpp>

using namespace assay;
using namespace assay::contracts;
using rpc::Json;

TEST_CASE("CHK-2: each check shows its kind and its members, and a report the numbers of those that failed") {
    TaskSpec spec;
    spec.checks = {
        check::Finite{}, check::Declared{.tensor = 1, .dtype = canonical::DType::kBf16, .shape = {2, 3}},
        check::Range{.tensor = 2, .least = 0xbf800000, .most = 0x3f000000}, check::Labels{.tensor = 3, .classes = 10}};
    CHECK(
        rpc::render(spec).at("checks") ==
        Json::array(
            {{{"kind", "finite"}, {"tensor", nullptr}},
             {{"kind", "shape"}, {"tensor", 1}, {"dtype", "bf16"}, {"rows", 2}, {"cols", 3}},
             {{"kind", "range"}, {"tensor", 2}, {"least", -1.0}, {"most", 0.5}},
             {{"kind", "labels"}, {"tensor", 3}, {"classes", 10}}}
        )
    );
    const Json plain = rpc::render_task(Task{}, {});
    CHECK(plain.at("environment").is_null());
    CHECK(plain.at("checks") == Json::array());
    CHECK(rpc::render_failed_checks(std::nullopt).is_null());
    CHECK(rpc::render_failed_checks(0) == Json::array());
    CHECK(rpc::render_failed_checks(0x8001) == Json{0, 15});
}

TEST_CASE("ENV-4: an acceptance shows the image and the labels that its solver states") {
    const Hash256 image{{3}};
    const HistoryEvent accepted = history::Accepted{Amount{8}, {}, Environment{image, {"a=1"}}};
    CHECK(
        rpc::render(accepted).at("environment") ==
        Json{{"image", "sha256:" + to_hex(image.view())}, {"labels", {"a=1"}}}
    );
    AcceptTask action{};
    CHECK(rpc::render(Action{action}).at("environment").is_null());
    action.environment = Environment{std::nullopt, {"a=1"}};
    CHECK(rpc::render(Action{action}).at("environment") == Json{{"image", nullptr}, {"labels", {"a=1"}}});
}
