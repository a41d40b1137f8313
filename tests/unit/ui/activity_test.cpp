// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/activity.hpp>

#include <string>

#include <doctest/doctest.h>

namespace assay::ui {
namespace {

nlohmann::ordered_json train(const std::string& task, std::uint64_t step, double loss) {
    return {{"event", "train"}, {"task", task}, {"step", step}, {"steps", 10'000}, {"loss", loss}};
}

}  // namespace

TEST_CASE("ui: a task's facts are its last ones, and its curve has one point for a step") {
    Activity activity;
    activity.note("solve", {{"event", "accept"}, {"task", "a"}, {"title", "<b>spirals</b>"}});
    activity.note("solve", train("a", 1, 2.5));
    activity.note("solve", train("a", 2, 2.25));
    activity.note("solve", train("a", 2, 2.25));  // trained again from a checkpoint
    const auto snapshot = activity.snapshot();
    const auto& task = snapshot.at("tasks").at(0);
    CHECK(task.at("title") == "<b>spirals</b>");
    CHECK(task.at("step") == 2);
    CHECK(task.at("last") == "train");
    CHECK(task.at("losses").size() == 2);
    CHECK(snapshot.at("events").size() == 1);  // steps are no news
}

TEST_CASE("ui: what strangers' tasks can make of the summary is bounded") {
    Activity activity;
    for (std::uint64_t step = 1; step <= 5'000; ++step) {
        activity.note("solve", train("long", step, 1.0 / static_cast<double>(step)));
    }
    const auto curve = activity.snapshot().at("tasks").at(0).at("losses");
    CHECK(curve.size() <= Activity::kPointsMax);
    CHECK(curve.size() >= Activity::kPointsMax / 4);
    CHECK(curve.at(0).at(0) == 1);
    for (std::size_t i = 0; i < 3 * Activity::kEventsMax; ++i) {
        activity.note("verify", {{"event", "verdict"}, {"task", "t" + std::to_string(i)}, {"verdict", "accept"}});
    }
    const auto snapshot = activity.snapshot();
    CHECK(snapshot.at("tasks").size() == Activity::kTasksMax);
    CHECK(snapshot.at("events").size() == Activity::kEventsMax);
    CHECK(snapshot.at("tasks").at(0).at("task") == "t299");
}

TEST_CASE("ui: events without a task, or with numbers that are none, are only listed") {
    Activity activity;
    activity.note("solve", {{"event", "idle"}, {"reason", "no_task"}, {"text", "no task is open"}});
    activity.note("solve", {{"event", "train"}, {"task", "a"}, {"step", "one"}, {"loss", nullptr}});
    const auto snapshot = activity.snapshot();
    CHECK(snapshot.at("events").at(0).at("text") == "no task is open");
    CHECK(snapshot.at("tasks").at(0).at("losses").empty());
}

}  // namespace assay::ui
