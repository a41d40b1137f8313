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
    /// Called with an event, on the thread that reports it.
    using Observer = std::function<void(const nlohmann::ordered_json& event)>;
    /// `always`, if there is one, is called with every event and with every trouble. Events are printed on `out`, which
    /// has to outlive this.
    explicit Reporter(bool json, Observer always = {}, std::ostream& out = std::cout)
        : json_(json), out_(out), always_(std::move(always)) {}
    /// Prints `text` unchanged in both formats; used for the ready line.
    void line(const std::string& text);
    void event(const nlohmann::ordered_json& event);
    /// Reports a problem in the log, and as an event if the format is JSON. An immediate repetition is not
    /// printed.
    void trouble(const std::string& text);
    /// Says something in the log, and prints `event` if the format is JSON.
    void notice(const std::string& text, const nlohmann::ordered_json& event);

    /// Calls `observer` with every event too. To be set before there are others.
    void observe(Observer observer) { observer_ = std::move(observer); }

  private:
    void print(const nlohmann::ordered_json& event);
    void tell(const nlohmann::ordered_json& event) const;

    bool json_;
    std::ostream& out_;
    const Observer always_;
    Observer observer_;
    std::mutex mutex_;
    std::string last_trouble_;
};

}  // namespace assay::worker
