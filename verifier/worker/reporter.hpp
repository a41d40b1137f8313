// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

namespace assay::worker {

/// How often long work reports its progress.
inline constexpr std::chrono::milliseconds kReportInterval{500};

/// What a worker says: one line per event on standard output, as a JSON object or for people. Each has "event"; the
/// names and members are in docs/operations/worker.md. Thread-safe.
class Reporter {
  public:
    explicit Reporter(bool json) : json_(json) {}
    /// A line of its own, whatever the form: the ready line.
    void line(const std::string& text);
    void event(const nlohmann::ordered_json& event);
    /// Trouble of ours or of the world; repeated lines are printed once.
    void trouble(const std::string& text);

  private:
    bool json_;
    std::mutex mutex_;
    std::string last_trouble_;
};

}  // namespace assay::worker
