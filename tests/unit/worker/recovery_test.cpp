// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <verifier/worker/recovery.hpp>

namespace assay::worker {
namespace {

Recovery recovery_with(std::uint32_t kept) {
    RecoveredTask task;
    task.task = contracts::TaskId{{7}};
    task.title = "a title";
    task.state = contracts::TaskState::kTraining;
    task.posted = 3;
    task.kept = kept;
    task.server = "http://10.0.0.1:4000";
    task.to_open = 1;
    task.due = 2;
    return {.account = AccountId{{1}}, .tasks = {task}};
}

TEST_CASE("a recovery is whole when every checkpoint that the chain names is in the home") {
    CHECK(recovery_with(3).is_whole());
    CHECK_FALSE(recovery_with(2).is_whole());
    CHECK(Recovery{}.is_whole());
    CHECK(to_json(recovery_with(3)).at("is_whole") == true);
    CHECK(to_json(recovery_with(2)).at("is_whole") == false);
}

TEST_CASE("a recovery says what is there, what is to be done, and what was lost at which cost") {
    Recovery recovery = recovery_with(2);
    recovery.tasks.front().missing = "nobody has it";
    recovery.tasks.front().lost = {"a salt, which costs a tenth of the bond"};
    const std::string text = to_text(recovery);
    for (const char* part :
         {"2 of 3 checkpoints", "nobody has it", "http://10.0.0.1:4000", "1 verdict to open", "2 segments to replay",
          "lost: a salt, which costs a tenth of the bond"}) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    }
    const auto json = to_json(recovery);
    const auto& task = json.at("tasks").at(0);
    CHECK(task.at("kept") == 2);
    CHECK(task.at("posted") == 3);
    CHECK(task.at("to_open") == 1);
    CHECK(task.at("lost").size() == 1);
}

}  // namespace
}  // namespace assay::worker
