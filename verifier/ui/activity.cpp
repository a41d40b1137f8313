// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/activity.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string_view>

namespace assay::ui {
namespace {

using Json = nlohmann::ordered_json;

/// Events of which there are many, and which a task's facts show.
constexpr std::array<std::string_view, 4> kProgress{"train", "replay", "probe", "dataset"};
/// What is copied of an event into the facts of its task.
constexpr std::array<const char*, 16> kFacts{"title",   "step",    "steps",   "loss",   "steps_per_s", "eta_s",
                                             "index",   "segment", "verdict", "score",  "state",       "paid",
                                             "slashed", "reason",  "move",    "attempt"};

std::uint64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

class Activity::Stream final : public http::PushHandler {
  public:
    explicit Stream(Activity& activity) : activity_(activity) {}
    void opened(std::shared_ptr<http::PushChannel> channel) override { activity_.add(channel); }
    void received(std::string /*text*/) override {}
    void drained() override {}
    void closed() override {}

  private:
    Activity& activity_;
};

std::shared_ptr<http::PushHandler> Activity::stream() { return std::make_shared<Stream>(*this); }

void Activity::add(const std::shared_ptr<http::PushChannel>& channel) {
    const std::lock_guard lock(mutex_);
    std::erase_if(channels_, [](const auto& each) { return each->is_over(); });
    if (channels_.size() >= kStreamsMax) {
        channels_.front()->finish();
        channels_.erase(channels_.begin());
    }
    channels_.push_back(channel);
    channel->send("event: changed\ndata: {}\n\n");
}

void Activity::end_streams() {
    const std::lock_guard lock(mutex_);
    for (const auto& channel : channels_) {
        channel->finish();
    }
    channels_.clear();
}

std::size_t Activity::streams() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(channels_.begin(), channels_.end(), [](const auto& each) {
        return !each->is_over();
    }));
}

void Activity::send(const std::string& name, const Json& data) {
    std::erase_if(channels_, [](const auto& each) { return each->is_over(); });
    for (const auto& channel : channels_) {
        if (channel->queued_bytes() > kQueuedMax) {
            channel->finish();
        } else {
            channel->send("event: " + name + "\ndata: " + text_of(data) + "\n\n");
        }
    }
}

void Activity::tell_changed() {
    const std::lock_guard lock(mutex_);
    send("changed", Json::object());
}

void Activity::note_loss(TaskView& view, const Json& event) {
    const auto loss = event.find("loss");
    const auto step = event.find("step");
    if (loss == event.end() || step == event.end() || !loss->is_number() || !step->is_number_unsigned() ||
        !std::isfinite(loss->get<double>()) || view.reports++ % view.stride != 0) {
        return;
    }
    if (!view.losses.empty() && step->get<std::uint64_t>() <= view.losses.back().first) {
        return;  // trained again from a checkpoint
    }
    view.losses.emplace_back(step->get<std::uint64_t>(), loss->get<double>());
    if (view.losses.size() > kPointsMax) {
        std::size_t at = 0;
        std::erase_if(view.losses, [&at](const auto&) { return at++ % 2 == 1; });
        view.stride *= 2;
    }
}

void Activity::note_task(const std::string& role, const Json& event) {
    const std::string id = event.at("task").get<std::string>();
    const std::string key = role + " " + id;
    std::erase(order_, key);
    order_.push_back(key);
    TaskView& view = tasks_[key];
    view.role = role;
    view.facts["task"] = id;
    view.facts["role"] = role;
    view.facts["last"] = event.at("event");
    for (const char* name : kFacts) {
        if (const auto found = event.find(name); found != event.end()) {
            view.facts[name] = *found;
        }
    }
    note_loss(view, event);
    while (order_.size() > kTasksMax) {
        tasks_.erase(order_.front());
        order_.pop_front();
    }
}

void Activity::note(const std::string& role, const Json& event) {
    const std::string name = event.value("event", std::string());
    Json shown = {{"role", role}, {"time_ms", now_ms()}};
    shown.update(event);
    const std::lock_guard lock(mutex_);
    if (const auto task = event.find("task"); task != event.end() && task->is_string()) {
        note_task(role, event);
    }
    if (std::find(kProgress.begin(), kProgress.end(), name) == kProgress.end()) {
        events_.push_back(shown);
        if (events_.size() > kEventsMax) {
            events_.pop_front();
        }
    }
    send("worker", shown);
}

Json Activity::snapshot() const {
    const std::lock_guard lock(mutex_);
    Json tasks = Json::array();
    for (auto key = order_.rbegin(); key != order_.rend(); ++key) {
        const TaskView& view = tasks_.at(*key);
        Json task = view.facts;
        task["losses"] = view.losses;
        tasks.push_back(std::move(task));
    }
    Json events = Json::array();
    for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
        events.push_back(*event);
    }
    return {{"tasks", std::move(tasks)}, {"events", std::move(events)}};
}

}  // namespace assay::ui
