// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/worker/journal.hpp>

namespace assay::worker {
namespace {

const contracts::TaskId kTask{{1}};
const contracts::TaskId kOther{{2}};

const contracts::VerdictOpening kOpening{
    .verdict = {.end_root = {{7}}, .probe_root = {}},
    .marks = {Hash256{{10}}, Hash256{{12}}},
    .decoy_root = {{11}},
    .salt = {{8}}};

TEST_CASE("a journal that was opened again remembers every promise") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "journal.json";
    {
        Journal journal(file);
        CHECK(journal.checkpoints(kTask).empty());
        journal.add_checkpoint(kTask, {.state_root = {{1}}, .artifact = {{2}}, .size_bytes = 3});
        journal.add_checkpoint(kTask, {.state_root = {{4}}, .artifact = {{5}}, .size_bytes = 6, .diverged_at = 7});
        journal.keep_verdict({kTask, 2}, kOpening);
        journal.probe_replays({kTask, 2}, 3).first = Hash256{{12}};
        journal.replays({kTask, 2}).first = Hash256{{9}};
        journal.replays({kTask, 2}).unable = true;
        journal.keep_replays();
        journal.note_dispute(kOther);
        journal.note_accepted(kTask);
        journal.note_check({kTask, 2}, AccountId{{7}});
        journal.note_check({kTask, 2}, AccountId{{8}});
        journal.note_check({kTask, 2}, AccountId{{7}});
        journal.keep_listen_port(4321);
        journal.open_breaker({kTask, 5}, "lost_dispute");
    }
    Journal journal(file);
    REQUIRE(journal.checkpoints(kTask).size() == 2);
    const Journal::StoredCheckpoint second{.state_root = {{4}}, .artifact = {{5}}, .size_bytes = 6, .diverged_at = 7};
    CHECK(journal.checkpoints(kTask)[1] == second);
    CHECK(journal.verdict({kTask, 2}) == kOpening);
    CHECK(journal.probe_replays({kTask, 2}, 3).first == Hash256{{12}});
    CHECK(!journal.probe_replays({kTask, 2}, 4).first.has_value());
    CHECK(!journal.verdict({kTask, 1}).has_value());
    CHECK(journal.replays({kTask, 2}).first == Hash256{{9}});
    CHECK(!journal.replays({kTask, 2}).unable);
    CHECK(journal.has_disputed(kOther));
    CHECK(!journal.has_disputed(kTask));
    CHECK(journal.accepted_tasks() == 1);
    CHECK(journal.checks() == 2);
    journal.note_check({kTask, 2}, AccountId{{8}});
    CHECK(journal.checks() == 2);
    CHECK(journal.listen_port() == 4321);
    CHECK(journal.breaker() == "lost_dispute");
    CHECK(journal.knows_slash({kTask, 5}));
    journal.reset_breaker();
    journal.cut_checkpoints(kTask, 1);
    CHECK(Journal(file).checkpoints(kTask).size() == 1);
    CHECK(!Journal(file).breaker().has_value());
    CHECK(Journal(file).knows_slash({kTask, 5}));
    journal.forget(kTask);
    journal.forget(kOther);
    Journal again(file);
    CHECK(again.checkpoints(kTask).empty());
    CHECK(!again.verdict({kTask, 2}).has_value());
    CHECK(!again.probe_replays({kTask, 2}, 3).first.has_value());
    CHECK(!again.has_disputed(kOther));
    CHECK(again.accepted_tasks() == 1);
    CHECK(again.checks() == 2);
}

TEST_CASE("a torn write leaves the journal as it was") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "journal.json";
    Journal(file).keep_listen_port(77);
    test::write_file(file.string() + ".tmp", as_bytes("{\"half"));
    CHECK(Journal(file).listen_port() == 77);
}

TEST_CASE("a journal that cannot be read stops the worker instead of being forgotten") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "journal.json";
    for (const char* text : {"", "{}", "[]", "{\"checkpoints\":{\"zz\":[]}}"}) {
        CAPTURE(text);
        test::write_file(file, as_bytes(text));
        CHECK_THROWS_AS(Journal{file}, JournalError);
    }
    CHECK_THROWS_AS(Journal(home.path() / "missing" / "journal.json").keep_listen_port(1), JournalError);
}

TEST_CASE("what could not be written is written before the journal is settled") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "journal.json";
    const contracts::TaskId task{{4}};
    Journal journal(file);
    journal.note_accepted(contracts::TaskId{{3}});
    std::filesystem::create_directory(file.string() + ".tmp");  // as good as a full disk
    CHECK_THROWS_AS(journal.note_accepted(task), JournalError);
    CHECK_THROWS_AS(journal.settle(), JournalError);
    CHECK(Journal(file).accepted_tasks() == 1);
    std::filesystem::remove(file.string() + ".tmp");
    journal.settle();
    CHECK(Journal(file).accepted_tasks() == 2);
}

}  // namespace
}  // namespace assay::worker
