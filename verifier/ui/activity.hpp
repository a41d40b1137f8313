// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <client/http/push.hpp>

namespace assay::ui {

/// What the workers of this process do: a summary for who asks, and a stream of server-sent events for who listens.
/// Everything is bounded, since titles and numbers of tasks are strangers'. Thread-safe.
class Activity {
  public:
    static constexpr std::size_t kTasksMax = 50;            ///< the latest
    static constexpr std::size_t kEventsMax = 100;          ///< the latest, without those of single steps
    static constexpr std::size_t kPointsMax = 240;          ///< of a loss curve: every second one is dropped beyond
    static constexpr std::size_t kStreamsMax = 8;           ///< the oldest is ended beyond
    static constexpr std::size_t kQueuedMax = 256U << 10U;  ///< bytes that a reader may be behind before it is ended

    /// An event of the worker in `role` (docs/operations/worker.md lists them).
    void note(const std::string& role, const nlohmann::ordered_json& event);
    /// Tells listeners that something else has changed.
    void tell_changed();
    /// {"tasks": [...], "events": [...]}
    nlohmann::ordered_json snapshot() const;

    /// A stream for one listener. The activity must outlive the server that serves it.
    std::shared_ptr<http::PushHandler> stream();
    void end_streams();
    std::size_t streams() const;

  private:
    class Stream;
    struct TaskView {
        std::string role;
        nlohmann::ordered_json facts;
        std::vector<std::pair<std::uint64_t, double>> losses{};
        std::size_t stride = 1;  ///< one point for so many reports
        std::size_t reports = 0;
    };
    void note_task(const std::string& role, const nlohmann::ordered_json& event);
    static void note_loss(TaskView& view, const nlohmann::ordered_json& event);
    void send(const std::string& name, const nlohmann::ordered_json& data);
    void add(const std::shared_ptr<http::PushChannel>& channel);

    mutable std::mutex mutex_;
    std::map<std::string, TaskView> tasks_;
    std::deque<std::string> order_;  ///< ids of tasks_, the least recent first
    std::deque<nlohmann::ordered_json> events_;
    std::vector<std::shared_ptr<http::PushChannel>> channels_;
};

}  // namespace assay::ui
