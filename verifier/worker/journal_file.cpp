// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/journal_file.hpp>

#include <cstddef>
#include <type_traits>

#include <sqlite3.h>

namespace assay::worker {
namespace {

constexpr std::int64_t kApplication = 0x41535941;  // "ASYA", in the header of the file
constexpr std::int64_t kVersion = 1;               // of the tables
constexpr int kBusyMs = 5'000;

/// A task's rows have its id in the column `task`, which Journal::forget() goes by.
constexpr const char* kTables = R"(
    CREATE TABLE checkpoints (task BLOB, place INTEGER, state_root BLOB NOT NULL, artifact BLOB NOT NULL,
        size_bytes INTEGER NOT NULL, diverged_at INTEGER, PRIMARY KEY (task, place)) WITHOUT ROWID;
    CREATE TABLE verdicts (task BLOB, place INTEGER, opening BLOB NOT NULL, divergence BLOB,
        PRIMARY KEY (task, place)) WITHOUT ROWID;
    CREATE TABLE profiles (task BLOB PRIMARY KEY, kept BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE replays (task BLOB, place INTEGER, probe INTEGER, first BLOB NOT NULL, second BLOB,
        PRIMARY KEY (task, place, probe)) WITHOUT ROWID;
    CREATE TABLE disputed (task BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE checked (task BLOB, place INTEGER, verifier BLOB, PRIMARY KEY (task, place, verifier)) WITHOUT ROWID;
    CREATE TABLE accepted (task BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE slashes (task BLOB, place INTEGER, PRIMARY KEY (task, place)) WITHOUT ROWID;
    CREATE TABLE facts (name TEXT PRIMARY KEY, fact) WITHOUT ROWID;
)";

/// Tables that version 1 had not from the beginning. A program that does not know them leaves them as they are.
constexpr const char* kLaterTables = R"(
    CREATE TABLE IF NOT EXISTS made (task BLOB, artifact BLOB, size_bytes INTEGER NOT NULL,
        PRIMARY KEY (task, artifact)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS retained (task BLOB, artifact BLOB, size_bytes INTEGER NOT NULL,
        free_at INTEGER NOT NULL, is_result INTEGER NOT NULL, PRIMARY KEY (task, artifact)) WITHOUT ROWID;
)";

}  // namespace

/// One prepared statement.
class JournalFile::Statement {
  public:
    Statement(const JournalFile& file, const char* text) : file_(file) {
        if (sqlite3_prepare_v2(file.database_.get(), text, -1, &statement_, nullptr) != SQLITE_OK) {
            file.fail("cannot read");
        }
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    void bind(const Row& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int at = static_cast<int>(i) + 1;
            const int code = std::visit(
                [&](const auto& value) {
                    using T = std::decay_t<decltype(value)>;
                    if constexpr (std::is_same_v<T, std::int64_t>) {
                        return sqlite3_bind_int64(statement_, at, value);
                    } else if constexpr (std::is_same_v<T, std::string>) {
                        return sqlite3_bind_text64(statement_, at, value.data(), value.size(), nullptr, SQLITE_UTF8);
                    } else if constexpr (std::is_same_v<T, Bytes>) {
                        return value.empty() ? sqlite3_bind_zeroblob(statement_, at, 0)
                                             : sqlite3_bind_blob64(statement_, at, value.data(), value.size(), nullptr);
                    } else {
                        return sqlite3_bind_null(statement_, at);
                    }
                },
                values[i]
            );
            if (code != SQLITE_OK) {
                file_.fail("cannot write");
            }
        }
    }

    /// Returns false after the last row.
    bool step(const char* what) {
        const int code = sqlite3_step(statement_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            file_.fail(what);
        }
        return code == SQLITE_ROW;
    }

    Row row() const {
        Row out;
        for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
            const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, i));
            switch (sqlite3_column_type(statement_, i)) {
                case SQLITE_INTEGER:
                    out.emplace_back(std::int64_t{sqlite3_column_int64(statement_, i)});
                    break;
                case SQLITE_TEXT: {
                    const void* text = sqlite3_column_text(statement_, i);
                    out.emplace_back(std::string(static_cast<const char*>(text), size));
                    break;
                }
                case SQLITE_BLOB: {
                    const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, i));
                    out.emplace_back(Bytes(bytes, bytes + size));
                    break;
                }
                default:
                    out.emplace_back();
            }
        }
        return out;
    }

  private:
    const JournalFile& file_;
    sqlite3_stmt* statement_ = nullptr;
};

void JournalFile::Close::operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }

JournalFile::JournalFile(const std::filesystem::path& path) : path_(path) {
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(database);
    if (code != SQLITE_OK) {
        fail("cannot open");
    }
    sqlite3_busy_timeout(database, kBusyMs);
    make_or_check();
    // What a transaction wrote survives a kill and a power cut.
    execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    others_version_ = number("PRAGMA data_version");
}

JournalFile::~JournalFile() = default;

/// Makes the tables of a new file, and looks at those of another.
void JournalFile::make_or_check() {
    const auto is_new = [this] {
        return number("PRAGMA user_version") == 0 && number("SELECT count(*) FROM sqlite_master") == 0;
    };
    if (is_new()) {
        execute("BEGIN IMMEDIATE");
        if (is_new()) {
            execute(kTables);
            execute(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
            execute(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
        }
        execute("COMMIT");
    }
    if (number("PRAGMA application_id") != kApplication) {
        throw JournalError(path_.string() + " is a database, but no journal of a worker");
    }
    if (const std::int64_t version = number("PRAGMA user_version"); version != kVersion) {
        throw JournalError(
            path_.string() + " is of version " + std::to_string(version) + ", and this program knows version " +
            std::to_string(kVersion) + "; use the assay-worker that wrote it"
        );
    }
    read("PRAGMA quick_check", [this](const Row& row) {
        if (row.empty() || row[0] != Value(std::string("ok"))) {
            throw JournalError(path_.string() + " is damaged");
        }
    });
    execute(kLaterTables);
}

void JournalFile::read(const char* query, const std::function<void(const Row&)>& row) const {
    Statement statement(*this, query);
    while (statement.step("cannot read")) {
        row(statement.row());
    }
}

void JournalFile::transaction(const std::function<void()>& changes) {
    execute("BEGIN IMMEDIATE");
    try {
        if (number("PRAGMA data_version") != others_version_) {
            throw JournalError("another process has written to " + path_.string());
        }
        changes();
        execute("COMMIT");
    } catch (...) {
        // SQLite has rolled back by itself after some errors; then this one is refused, and that is as well.
        sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

void JournalFile::run(const char* text, const Row& values) {
    Statement statement(*this, text);
    statement.bind(values);
    statement.step("cannot write");
}

void JournalFile::execute(const char* text) {
    if (sqlite3_exec(database_.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail("cannot write");
    }
}

std::int64_t JournalFile::number(const char* query) const {
    std::int64_t out = 0;
    read(query, [&out](const Row& row) { out = std::get<std::int64_t>(row.at(0)); });
    return out;
}

void JournalFile::fail(const std::string& what) const {
    throw JournalError(what + " " + path_.string() + ": " + sqlite3_errmsg(database_.get()));
}

}  // namespace assay::worker
