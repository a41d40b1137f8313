// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <set>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/worker/store_keeper.hpp>

namespace assay::worker {
namespace {

const contracts::TaskId kOver{{1}};
const contracts::TaskId kRunning{{2}};
constexpr std::uint64_t kNow = 1'000'000;

Bytes state_number(std::uint8_t number) { return Bytes(1'000, number); }

/// A worker's store and journal, opened anew by each test that says so.
struct Shelf {
    test::TemporaryDirectory home;
    artifacts::ContentStore store{home.path() / "store"};
    std::filesystem::path file = home.path() / kJournalName;

    /// Makes a checkpoint of the task, with hashes beside it, and returns its name.
    Hash256 add(Journal& journal, const contracts::TaskId& task, std::uint8_t number) const {
        const Hash256 artifact = store.put(state_number(number));
        store.put_leaves(artifact, Bytes(32, number));
        journal.add_checkpoint(task, {.state_root = artifact, .artifact = artifact, .size_bytes = 1'000});
        return artifact;
    }
    std::size_t files() const { return store.entries().size(); }
};

contracts::Task ended_as(contracts::TaskState state) {
    contracts::Task task;
    task.id = kOver;
    task.state = state;
    task.spec.steps = 30;
    task.spec.checkpoint_interval = 10;
    return task;
}

TEST_CASE("the result of a settled task stays longer than its checkpoints, that of another one does not") {
    const KeepOptions keep{.checkpoints_s = 10, .results_s = 100};
    const Journal::Times settled = retention_of(ended_as(contracts::TaskState::kSettled), keep, kNow);
    CHECK(settled.free_at == kNow + 10);
    CHECK(settled.result_free_at == kNow + 100);
    CHECK(settled.result_from == 3);
    CHECK(retention_of(ended_as(contracts::TaskState::kConvicted), keep, kNow).result_free_at == kNow + 10);
    CHECK(retention_of(ended_as(contracts::TaskState::kCancelled), keep, kNow).result_free_at == kNow + 10);
    // A result never goes before the other checkpoints.
    const KeepOptions odd{.checkpoints_s = 100, .results_s = 10};
    CHECK(retention_of(ended_as(contracts::TaskState::kSettled), odd, kNow).result_free_at == kNow + 100);
}

TEST_CASE("RET-5: with a result that is paid for stays the program by which it is read") {
    const KeepOptions keep{.checkpoints_s = 10, .results_s = 100};
    const Journal::Times kept = retention_of(ended_as(contracts::TaskState::kKept), keep, kNow);
    CHECK(kept.result_free_at == kNow + 100);
    CHECK(kept.keeps_made);
    CHECK_FALSE(retention_of(ended_as(contracts::TaskState::kSettled), keep, kNow).keeps_made);
    const Shelf shelf;
    Journal journal(shelf.file);
    const Hash256 first = shelf.add(journal, kOver, 1);
    const Hash256 program = shelf.store.put(state_number(3));
    journal.note_made(kOver, program, 1'000);
    journal.retire(kOver, kept);
    CHECK(due_files(journal, kNow + 99) == std::vector<Journal::File>{{kOver, first}});
    CHECK(journal.retained().at({kOver, program}).is_result);
    CHECK_FALSE(journal.retained().at({kOver, first}).is_result);
}

TEST_CASE("files of a task that is over stay for their time, go with their hashes, and the journal remembers both") {
    const Shelf shelf;
    Hash256 first;
    Hash256 last;
    Hash256 made;
    {
        Journal journal(shelf.file);
        first = shelf.add(journal, kOver, 1);
        last = shelf.add(journal, kOver, 2);
        made = shelf.store.put(state_number(3));
        journal.note_made(kOver, made, 1'000);
        shelf.store.put(state_number(4));  // by hand: nobody's to delete
        CHECK(journal.knows(kOver));
        journal.retire(kOver, {.free_at = kNow + 10, .result_free_at = kNow + 100, .result_from = 1});
        CHECK(!journal.knows(kOver));
    }
    Journal journal(shelf.file);
    CHECK(journal.checkpoints(kOver).empty());
    REQUIRE(journal.retained().size() == 3);
    CHECK(journal.retained().at({kOver, last}).is_result);
    CHECK(due_files(journal, kNow + 9).empty());
    const auto due = due_files(journal, kNow + 10);
    CHECK(due.size() == 2);
    for (const Journal::File& file : due) {
        CHECK(file.second != last);
        CHECK(free_file(journal, shelf.store, file) == (file.second == first ? 1'032U : 1'000U));
    }
    CHECK(!shelf.store.has(first));
    CHECK(!shelf.store.leaves(first).has_value());
    CHECK(!shelf.store.has(made));
    CHECK(shelf.store.has(last));
    CHECK(due_files(journal, kNow + 99).empty());
    CHECK(due_files(journal, kNow + 100) == std::vector<Journal::File>{{kOver, last}});
    CHECK(Journal(shelf.file).retained().size() == 1);
    CHECK(free_file(journal, shelf.store, {kOver, last}) == 1'032);
    CHECK(shelf.files() == 1);
}

TEST_CASE("LIN-2: a file that another task needs stays when its first task is over") {
    const Shelf shelf;
    Journal journal(shelf.file);
    const Hash256 shared = shelf.add(journal, kOver, 1);
    shelf.add(journal, kRunning, 1);  // a task that starts from the other's last state
    journal.retire(kOver, {.free_at = kNow, .result_free_at = kNow, .result_from = 0});
    CHECK(journal.is_shared({kOver, shared}));
    CHECK(free_file(journal, shelf.store, {kOver, shared}) == 0);
    CHECK(shelf.store.has(shared));
    CHECK(journal.retained().empty());
    journal.retire(kRunning, {.free_at = kNow, .result_free_at = kNow, .result_from = 0});
    CHECK(!journal.is_shared({kRunning, shared}));
    CHECK(free_file(journal, shelf.store, {kRunning, shared}) == 1'032);
    CHECK(shelf.files() == 0);
}

TEST_CASE("a file goes before its row, so that what could not be noted is done again") {
    const Shelf shelf;
    Journal journal(shelf.file);
    const Hash256 artifact = shelf.add(journal, kOver, 1);
    journal.retire(kOver, {.free_at = kNow, .result_free_at = kNow, .result_from = 0});
    Journal(shelf.file).note_accepted(kRunning);  // another process: this one cannot write any more
    CHECK_THROWS_AS(free_file(journal, shelf.store, {kOver, artifact}), JournalError);
    CHECK(!shelf.store.has(artifact));
    Journal again(shelf.file);
    REQUIRE(again.retained().size() == 1);
    CHECK(free_file(again, shelf.store, {kOver, artifact}) == 0);
    CHECK(again.retained().empty());
}

/// Retires the task and frees its files, and says so after each step.
[[noreturn]] void free_all(const Shelf& shelf, int said) {
    try {
        Journal journal(shelf.file);
        journal.retire(kOver, {.free_at = kNow, .result_free_at = kNow, .result_from = 0});
        for (const Journal::File& file : due_files(journal, kNow)) {
            if (::write(said, "x", 1) != 1) {
                ::_exit(1);
            }
            free_file(journal, shelf.store, file);
        }
    } catch (const std::exception&) {
        ::_exit(2);
    }
    ::close(said);  // fewer files were left than the test waits for
    ::pause();
    ::_exit(3);
}

TEST_CASE("a worker that is killed while it frees files leaves none that it does not know, and ends the work later") {
    constexpr std::uint8_t kFiles = 24;
    const Shelf shelf;
    std::set<Hash256> names;
    {
        Journal journal(shelf.file);
        for (std::uint8_t i = 0; i < kFiles; ++i) {
            names.insert(shelf.add(journal, kOver, i));
        }
        shelf.add(journal, kRunning, kFiles);
    }
    for (int kill_after = 0; kill_after < 8; ++kill_after) {
        CAPTURE(kill_after);
        std::array<int, 2> pipe{};
        REQUIRE(::pipe(pipe.data()) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(pipe[0]);
            free_all(shelf, pipe[1]);
        }
        ::close(pipe[1]);
        char said = 0;
        for (int i = 0; i < kill_after && ::read(pipe[0], &said, 1) == 1; ++i) {
        }
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        ::close(pipe[0]);
        const Journal journal(shelf.file);
        std::set<Hash256> known;
        for (const auto& checkpoint : journal.checkpoints(kOver)) {
            known.insert(checkpoint.artifact);
            CHECK(shelf.store.has(checkpoint.artifact));  // not over yet: nothing is gone
        }
        for (const auto& [file, retained] : journal.retained()) {
            known.insert(file.second);
        }
        for (const Hash256& name : names) {
            CHECK((!shelf.store.has(name) || known.contains(name)));
        }
    }
    Journal journal(shelf.file);
    REQUIRE(journal.checkpoints(kOver).empty());
    CHECK(journal.retained().size() < kFiles);
    for (const Journal::File& file : due_files(journal, kNow)) {
        free_file(journal, shelf.store, file);
    }
    CHECK(journal.retained().empty());
    CHECK(shelf.files() == 1);
    CHECK(journal.checkpoints(kRunning).size() == 1);
}

}  // namespace
}  // namespace assay::worker
