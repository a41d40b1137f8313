// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/worker/journal.hpp>

namespace assay::worker {
namespace {

const contracts::TaskId kTask{{1}};
const contracts::TaskId kOther{{2}};
using StoredCheckpoint = Journal::StoredCheckpoint;

const contracts::VerdictOpening kOpening{
    .verdict = {.end_root = {{7}}, .probe_root = {}},
    .marks = {Hash256{{10}}, Hash256{{12}}},
    .decoy_root = {{11}},
    .salt = {{8}}};

TEST_CASE("a journal that was opened again remembers every promise") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / kJournalName;
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

TEST_CASE("a verdict keeps its divergence, a task its profile, and a replay what it became") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / kJournalName;
    dispute::StateOpening divergence;
    divergence.tensor = 3;
    divergence.tile = 4;
    {
        Journal journal(file);
        journal.keep_verdict({kTask, 2}, kOpening, divergence);
        journal.keep_profile(kTask, {.report = {}, .salt = {{5}}});
        journal.replays({kTask, 2}).first = Hash256{{9}};
        journal.replays({kTask, 3}).first = Hash256{{9}};
        journal.keep_replays();
        journal.replays({kTask, 2}).second = Hash256{{10}};
        journal.replays({kTask, 3}).first.reset();
        journal.keep_replays();
    }
    Journal journal(file);
    CHECK(journal.verdict({kTask, 2}) == kOpening);
    REQUIRE(journal.divergence({kTask, 2}).has_value());
    CHECK(codec::encode(*journal.divergence({kTask, 2})) == codec::encode(divergence));
    REQUIRE(journal.profile(kTask).has_value());
    CHECK(journal.profile(kTask)->salt == Hash256{{5}});
    CHECK(journal.replays({kTask, 2}).first == Hash256{{9}});
    CHECK(journal.replays({kTask, 2}).second == Hash256{{10}});
    CHECK(!journal.replays({kTask, 3}).first.has_value());
    journal.forget(kTask);
    Journal again(file);
    CHECK(!again.divergence({kTask, 2}).has_value());
    CHECK(!again.profile(kTask).has_value());
    CHECK(!again.replays({kTask, 2}).first.has_value());
}

StoredCheckpoint checkpoint_of(std::uint64_t number) {
    StoredCheckpoint out;
    out.size_bytes = number;
    for (std::size_t i = 0; i < 8; ++i) {
        out.state_root.data[i] = static_cast<std::uint8_t>(number >> 8U * i);
    }
    out.artifact = out.state_root;
    return out;
}

/// Adds checkpoints to the journal until it is killed, and says after each how many there are.
[[noreturn]] void add_checkpoints(const std::filesystem::path& file, int said) {
    try {
        Journal journal(file);
        for (std::uint64_t count = journal.checkpoints(kTask).size();;) {
            journal.add_checkpoint(kTask, checkpoint_of(count));
            ++count;
            if (::write(said, &count, sizeof(count)) != sizeof(count)) {
                ::_exit(1);
            }
        }
    } catch (const JournalError&) {
        ::_exit(2);
    }
}

TEST_CASE("what the journal has said to keep survives a kill at any moment") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / kJournalName;
    std::uint64_t said = 0;
    std::uint64_t kills_between = 0;
    for (int round = 0; round < 25; ++round) {
        CAPTURE(round);
        std::array<int, 2> pipe{};
        REQUIRE(::pipe(pipe.data()) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(pipe[0]);
            add_checkpoints(file, pipe[1]);
        }
        ::close(pipe[1]);
        std::this_thread::sleep_for(std::chrono::milliseconds(3 * round));
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        for (std::uint64_t count = 0; ::read(pipe[0], &count, sizeof(count)) == sizeof(count);) {
            said = count;
        }
        ::close(pipe[0]);
        const Journal journal(file);
        const auto& kept = journal.checkpoints(kTask);
        // The last may have been kept without a word.
        REQUIRE(kept.size() >= said);
        REQUIRE(kept.size() <= said + 1);
        kills_between += kept.size() - said;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            REQUIRE(kept[i] == checkpoint_of(i));
        }
        said = kept.size();
    }
    CHECK(said > 0);
    MESSAGE(said << " checkpoints kept; " << kills_between << " of 25 kills came between the disk and the word");
}

TEST_CASE("a journal that cannot be read stops the worker instead of being forgotten") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / kJournalName;
    for (const std::string& text : {std::string("{}"), std::string("no journal"), std::string(5'000, 'x')}) {
        CAPTURE(text);
        test::write_file(file, as_bytes(text));
        CHECK_THROWS_AS(Journal{file}, JournalError);
    }
    CHECK_THROWS_AS(Journal(home.path() / "missing" / kJournalName).keep_listen_port(1), JournalError);
}

std::string error_of(const std::filesystem::path& file) {
    try {
        const Journal journal(file);
    } catch (const JournalError& error) {
        return error.what();
    }
    return "";
}

void execute(const std::filesystem::path& file, const char* text) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}

TEST_CASE("a database that is no journal, or a newer or damaged one, is refused by what it is") {
    const test::TemporaryDirectory home;
    const auto other = home.path() / "other.db";
    execute(other, "CREATE TABLE songs (name)");
    CHECK(error_of(other).find("no journal of a worker") != std::string::npos);
    const auto newer = home.path() / "newer.db";
    Journal(newer).keep_listen_port(1);
    execute(newer, "PRAGMA user_version = 2");
    CHECK(error_of(newer).find("is of version 2") != std::string::npos);
    const auto gap = home.path() / "gap.db";
    Journal(gap).add_checkpoint(kTask, checkpoint_of(0));
    execute(gap, "UPDATE checkpoints SET place = 1");
    CHECK(error_of(gap).find("a checkpoint is missing") != std::string::npos);
    const auto short_hash = home.path() / "short.db";
    Journal(short_hash).note_accepted(kTask);
    execute(short_hash, "UPDATE accepted SET task = x'00'");
    CHECK(error_of(short_hash).find("a hash has 1 bytes instead of 32") != std::string::npos);
}

TEST_CASE("a journal of version 0.1 is not overlooked") {
    const test::TemporaryDirectory home;
    test::write_file(home.path() / "journal.json", as_bytes("{}"));
    CHECK(error_of(home.path() / kJournalName).find("version 0.1") != std::string::npos);
    CHECK(!std::filesystem::exists(home.path() / kJournalName));
    std::filesystem::remove(home.path() / "journal.json");
    CHECK(error_of(home.path() / kJournalName).empty());
}

TEST_CASE("a journal is read by others while it is written, and written by one") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / kJournalName;
    Journal first(file);
    first.note_accepted(kTask);
    Journal second(file);
    first.note_accepted(kOther);
    CHECK(second.accepted_tasks() == 1);
    CHECK(Journal(file).accepted_tasks() == 2);
    CHECK_THROWS_AS(second.keep_listen_port(9), JournalError);
    CHECK_THROWS_AS(second.settle(), JournalError);
    first.keep_listen_port(10);
    CHECK(Journal(file).listen_port() == 10);
}

/// Lets no file grow beyond a byte, as a full disk would not, for as long as it lives.
class FullDisk {
  public:
    FullDisk() {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit none = before_;
        none.rlim_cur = 1;
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
    }
    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

  private:
    rlimit before_{};
};

TEST_CASE("what could not be written is written before the journal is settled") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / kJournalName;
    Journal journal(file);
    journal.note_accepted(kTask);
    journal.replays({kTask, 2}).first = Hash256{{9}};
    journal.add_checkpoint(kTask, checkpoint_of(0));
    bool has_failed = false;
    bool has_failed_again = false;
    {
        const FullDisk full;
        try {
            journal.note_accepted(kOther);
        } catch (const JournalError&) {
            has_failed = true;
        }
        try {
            journal.settle();
        } catch (const JournalError&) {
            has_failed_again = true;
        }
    }
    CHECK(has_failed);
    CHECK(has_failed_again);
    CHECK(Journal(file).accepted_tasks() == 1);
    journal.settle();
    const Journal again(file);
    CHECK(again.accepted_tasks() == 2);
    CHECK(again.checkpoints(kTask).size() == 1);
    CHECK(Journal(file).replays({kTask, 2}).first == Hash256{{9}});
}

}  // namespace
}  // namespace assay::worker
