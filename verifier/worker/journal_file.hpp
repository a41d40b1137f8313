// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>

struct sqlite3;

namespace assay::worker {

/// The journal cannot be read or written. The worker must then not act on anything that it recorded.
class JournalError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The database of a journal: an SQLite file with the journal's tables. What a transaction wrote is on the disk when it
/// returns. Every function throws JournalError.
class JournalFile {
  public:
    using Value = std::variant<std::monostate, std::int64_t, std::string, Bytes>;  ///< monostate: NULL
    using Row = std::vector<Value>;

    /// Opens the file, or makes it. Refuses a file that is no journal, is damaged, or is of a newer version.
    explicit JournalFile(const std::filesystem::path& path);
    ~JournalFile();
    JournalFile(const JournalFile&) = delete;
    JournalFile& operator=(const JournalFile&) = delete;

    /// Calls `row` for each row of the result.
    void read(const char* query, const std::function<void(const Row&)>& row) const;
    /// Calls `changes`, whose statements take effect together or, if it throws, not at all. Refuses if another
    /// connection has written since this one was opened: what is remembered of the file is then out of date.
    void transaction(const std::function<void()>& changes);
    /// Runs one statement, in a transaction.
    void run(const char* statement, const Row& values = {});

  private:
    class Statement;
    struct Close {
        void operator()(sqlite3* database) const noexcept;
    };
    void execute(const char* statement);
    void make_or_check();
    std::int64_t number(const char* query) const;
    [[noreturn]] void fail(const std::string& what) const;

    std::filesystem::path path_;
    std::unique_ptr<sqlite3, Close> database_;
    std::int64_t others_version_ = 0;  ///< changes when another connection has written
};

}  // namespace assay::worker
