// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// The log of an executable: what operators read about a run, as opposed to results, which are printed. One line per
/// entry, thread-safe, each line written at once. Without start(), entries of level info and above go to standard error
/// as text.
namespace assay::log {

enum class Level : std::uint8_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };
enum class Format : std::uint8_t {
    kText = 0,  ///< 2026-01-31T12:00:00.000Z info assayd: message name=value
    kJson = 1,  ///< {"time":...,"level":"info","program":"assayd","message":...,"name":value}
};

std::optional<Level> decode_level(std::string_view name) noexcept;
std::optional<Format> decode_format(std::string_view name) noexcept;

struct Options {
    std::string program = "assay";
    Level level = Level::kInfo;  ///< entries below it are left out
    Format format = Format::kText;
    std::filesystem::path file{};               ///< empty: standard error
    std::uint64_t file_bytes_max = 64U << 20U;  ///< then the file is renamed and another begun
    std::uint32_t files_max = 5;  ///< number of renamed files that are kept: log.1.txt of log.txt and so on
};

/// What goes with a message for programs to read. In JSON a member of its own, beside those of every entry.
struct Field {
    std::string_view name;
    std::variant<std::string, std::int64_t, std::uint64_t> value;
};
using Fields = std::initializer_list<Field>;

/// Starts the log with these options, in the place of what it was. Throws std::runtime_error if the file cannot be
/// opened.
void start(const Options& options);
/// Returns true if start() was called.
bool is_started();
/// Returns true if the log is written to a file.
bool has_file();

/// Writes an entry. Control characters, of which strangers' words may have some, become spaces or are escaped.
void write(Level level, std::string_view message, Fields fields = {});
inline void debug(std::string_view message, Fields fields = {}) { write(Level::kDebug, message, fields); }
inline void info(std::string_view message, Fields fields = {}) { write(Level::kInfo, message, fields); }
inline void warning(std::string_view message, Fields fields = {}) { write(Level::kWarning, message, fields); }
inline void error(std::string_view message, Fields fields = {}) { write(Level::kError, message, fields); }

}  // namespace assay::log
