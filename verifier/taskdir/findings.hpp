// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// Errors, warnings and notes about a task directory.
namespace assay::taskdir {

/// task.toml or its data is wrong; the message names the file and the key.
class TaskDirectoryError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

enum class Severity : std::uint8_t { kNote = 1, kWarning = 2, kError = 3 };
const char* to_string(Severity severity) noexcept;

struct Finding {
    Severity severity = Severity::kError;
    std::string file;        ///< empty if the message names its file itself
    std::uint32_t line = 0;  ///< 0 if the finding has no line
    std::string key;         ///< such as "[model] hidden" or "steps"; empty for the file as a whole
    std::string message;
};
/// Formats a finding, as in "DIR/task.toml:7: [model] hidden: must be ...".
std::string to_text(const Finding& finding);

/// Collects findings about one file, so that the user sees all of them, not only the first.
class Findings {
  public:
    explicit Findings(std::string file) : file_(std::move(file)) {}

    /// Records the line of `key`, for findings about it.
    void place(const std::string& key, std::uint32_t line) { lines_[key] = line; }

    void error(const std::string& key, const std::string& message) { add(Severity::kError, key, message); }
    /// Adds an error whose message already names its file.
    void error(const TaskDirectoryError& error) { all_.push_back({Severity::kError, "", 0, "", error.what()}); }
    void warning(const std::string& key, const std::string& message) { add(Severity::kWarning, key, message); }
    void note(const std::string& key, const std::string& message) { add(Severity::kNote, key, message); }

    const std::string& file() const { return file_; }
    const std::vector<Finding>& all() const { return all_; }
    std::size_t count(Severity severity) const;
    bool has_errors() const { return count(Severity::kError) != 0; }
    /// Throws TaskDirectoryError with the first error and the number of further errors, if there are errors.
    void throw_if_wrong() const;

  private:
    void add(Severity severity, const std::string& key, const std::string& message);

    std::string file_;
    std::map<std::string, std::uint32_t> lines_;
    std::vector<Finding> all_;
};

}  // namespace assay::taskdir
