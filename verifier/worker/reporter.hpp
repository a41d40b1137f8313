// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace assay::worker {

/// Minimum interval between progress reports of a long computation.
inline constexpr std::chrono::milliseconds kReportInterval{500};

/// Prints a worker's events, one line each, as JSON objects or human-readable text. Each has an
/// "event" member; docs/operations/worker.md lists the names and members. Thread-safe.
class Reporter {
  public:
    /// Events are printed on `out`, which has to outlive it.
    explicit Reporter(bool json, std::ostream& out = std::cout) : json_(json), out_(out) {}
    /// Prints `text` unchanged in both formats; used for the ready line.
    void line(const std::string& text);
    void event(const nlohmann::ordered_json& event);
    /// Reports a problem in the log, and as an event if the format is JSON. An immediate repetition is not
    /// printed.
    void trouble(const std::string& text);
    /// Says something in the log, and prints `event` if the format is JSON.
    void notice(const std::string& text, const nlohmann::ordered_json& event);

    /// Calls `observer` with every event, on the thread that reports it. To be set before there are others.
    using Observer = std::function<void(const nlohmann::ordered_json& event)>;
    void observe(Observer observer) { observer_ = std::move(observer); }

  private:
    void print(const nlohmann::ordered_json& event);

    bool json_;
    std::ostream& out_;
    Observer observer_;
    std::mutex mutex_;
    std::string last_trouble_;
};

}  // namespace assay::worker
