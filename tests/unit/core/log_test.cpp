// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <core/system/log/log.hpp>

namespace fs = std::filesystem;
namespace log_ = assay::log;

namespace {

/// A directory for log files; the log goes to standard error again afterwards.
class LogDirectory {
  public:
    LogDirectory() : path_(fs::temp_directory_path() / ("assay-log-" + std::to_string(::getpid()))) {
        fs::remove_all(path_);
        fs::create_directory(path_);
    }
    ~LogDirectory() {
        log_::start({});
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    LogDirectory(const LogDirectory&) = delete;
    LogDirectory& operator=(const LogDirectory&) = delete;
    fs::path file() const { return path_ / "node.log"; }
    std::vector<std::string> lines() const {
        std::ifstream in(file());
        std::vector<std::string> out;
        for (std::string line; std::getline(in, line);) {
            out.push_back(line);
        }
        return out;
    }

  private:
    fs::path path_;
};

const std::string kNasty = "\"quoted\"\nnext \x1b[31m {fmt} \\ %v \xff\xfe";

}  // namespace

TEST_CASE("each entry of a JSON log is one line and one object, whatever strangers say") {
    const LogDirectory directory;
    log_::start({.program = "assayd", .format = log_::Format::kJson, .file = directory.file()});
    log_::info("plain");
    log_::warning(
        kNasty, {{"peer", kNasty}, {"height", std::uint64_t{18'446'744'073'709'551'615U}}, {"delta", std::int64_t{-1}}}
    );
    const auto lines = directory.lines();
    REQUIRE(lines.size() == 2);
    const auto plain = nlohmann::json::parse(lines[0]);
    CHECK(plain.at("level") == "info");
    CHECK(plain.at("program") == "assayd");
    CHECK(plain.at("message") == "plain");
    const auto time = plain.at("time").get<std::string>();
    CHECK(time.size() == std::string("2026-01-31T12:00:00.000Z").size());
    CHECK(time.ends_with('Z'));
    const auto nasty = nlohmann::json::parse(lines[1]);
    CHECK(nasty.at("level") == "warning");
    CHECK(nasty.at("message").get<std::string>().starts_with("\"quoted\"\nnext \x1b[31m {fmt} \\ %v "));
    CHECK(nasty.at("peer") == nasty.at("message"));
    CHECK(nasty.at("height") == 18'446'744'073'709'551'615U);
    CHECK(nasty.at("delta") == -1);
}

TEST_CASE("an entry of a text log is one line without control characters") {
    const LogDirectory directory;
    log_::start({.program = "assayd", .file = directory.file()});
    log_::error(kNasty, {{"height", std::uint64_t{7}}, {"why", std::string("two words")}});
    const auto lines = directory.lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("Z error assayd: \"quoted\" next  [31m {fmt} \\ %v ") != std::string::npos);
    CHECK(lines[0].ends_with(" height=7 why=\"two words\""));
}

TEST_CASE("entries below the level are left out") {
    const LogDirectory directory;
    log_::start({.level = log_::Level::kWarning, .file = directory.file()});
    log_::debug("d");
    log_::info("i");
    log_::warning("w");
    log_::error("e");
    CHECK(directory.lines().size() == 2);
    CHECK(log_::decode_level("warning") == log_::Level::kWarning);
    CHECK_FALSE(log_::decode_level("loud"));
    CHECK_FALSE(log_::decode_format("xml"));
}

TEST_CASE("a full log file is renamed, and the oldest are dropped") {
    const LogDirectory directory;
    log_::start({.file = directory.file(), .file_bytes_max = 1'000, .files_max = 2});
    for (int i = 0; i < 100; ++i) {
        log_::info("entry " + std::to_string(i));
    }
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(directory.file().parent_path())) {
        CHECK(entry.file_size() <= 1'000);
        ++files;
    }
    CHECK(files == 3);
    CHECK(directory.lines().back().ends_with("entry 99"));
}

TEST_CASE("entries of many threads do not mix") {
    const LogDirectory directory;
    log_::start({.format = log_::Format::kJson, .file = directory.file()});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int j = 0; j < 200; ++j) {
                log_::info(std::string(200, 'x'));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const auto lines = directory.lines();
    CHECK(lines.size() == 800);
    for (const std::string& line : lines) {
        REQUIRE(nlohmann::json::accept(line));
    }
}

TEST_CASE("a log file that cannot be opened is an error that names it") {
    const LogDirectory directory;
    try {
        log_::start({.file = "/proc/nowhere/a.log"});
        FAIL("it was opened");
    } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("cannot log to ") == 0);
    }
}
