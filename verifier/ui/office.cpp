// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/office.hpp>

#include <ctime>
#include <thread>
#include <utility>

#include <core/crypto/address.hpp>
#include <core/system/memory.hpp>

namespace assay::ui {
namespace {

using Json = nlohmann::ordered_json;

std::uint32_t minute_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    return static_cast<std::uint32_t>(local.tm_hour * 60 + local.tm_min);
}

Json to_json(const std::vector<Reading>& readings) {
    Json out = Json::array();
    for (const Reading& each : readings) {
        out.push_back({{"name", each.name}, {"celsius", each.celsius}, {"is_gpu", each.is_gpu}});
    }
    return out;
}

Json to_json(const std::vector<Gpu>& gpus) {
    Json out = Json::array();
    for (const Gpu& each : gpus) {
        out.push_back({{"name", each.name}, {"memory_bytes", each.memory_bytes}});
    }
    return out;
}

}  // namespace

Office::Office(
    const std::filesystem::path& home, Place place, Machine& machine, Activity& activity, crypto::KeystoreCost cost
)
    : home_(home),
      machine_(machine),
      activity_(activity),
      keys_(home, cost),
      settings_(read_settings(home)),
      clerk_(
          home,
          [&] {
              // What the command line names goes before what was saved.
              place.node.url = place.node.url.empty() ? settings_.node : place.node.url;
              settings_.node = place.node.url;
              return place;
          }(),
          [this] { activity_.tell_changed(); }
      ) {
    note_key();
    look_at_limits();
    thread_ = std::thread([this] { run_limits(); });
}

Office::~Office() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Office::note_key() {
    if (const auto account = keys_.account()) {
        const std::string owner = settings().owner;
        clerk_.use_account(*account, crypto::decode_address(owner).value_or(*account));
    }
    activity_.tell_changed();
}

Settings Office::settings() const {
    const std::lock_guard lock(mutex_);
    return settings_;
}

std::optional<std::string> Office::closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

void Office::save(const Settings& settings) {
    write_settings(home_, settings);
    {
        const std::lock_guard lock(mutex_);
        settings_ = settings;
    }
    look_at_limits();
    activity_.tell_changed();
}

void Office::change(const nlohmann::json& change) {
    const std::lock_guard ordering(ordering_);
    const Settings before = settings();
    Settings after = changed(before, change);
    if (after.score != before.score || after.score_device != before.score_device ||
        after.is_started != before.is_started || after.is_paused != before.is_paused) {
        throw InputError("this is not set by hand: measure, start, stop or pause");
    }
    const auto account = keys_.account();
    if (account && after.owner == crypto::to_address(*account)) {
        throw InputError("this machine's own account needs no operator: leave the account that it works for empty");
    }
    machine_.check(after);
    if (after.device != before.device) {
        after.score = 0;  // it was another device's
    }
    save(after);
    if (after.node != before.node) {
        clerk_.use_node(after.node);
    }
    if (after.owner != before.owner) {
        note_key();
    }
    Settings same = before;
    same.from_minute = after.from_minute;
    same.to_minute = after.to_minute;
    same.least_price = after.least_price;
    same.celsius_max = after.celsius_max;
    if (same != after && machine_.is_running() && key_) {
        machine_.stop();
        machine_.start(after, *key_, false);
    }
}

void Office::start(std::string_view password, bool resets_breaker) {
    const std::lock_guard ordering(ordering_);
    if (!password.empty() || !key_) {
        key_ = keys_.open(password);
    }
    Settings settings = this->settings();
    if (!settings.solve && !settings.verify && !settings.watch) {
        throw InputError("choose at least one role first");
    }
    settings.is_started = true;
    save(settings);
    if (!machine_.is_running()) {
        machine_.stop();  // joins those that have ended by themselves
        machine_.start(settings, *key_, resets_breaker);
    }
}

void Office::stop() {
    const std::lock_guard ordering(ordering_);
    Settings settings = this->settings();
    settings.is_started = false;
    save(settings);
    machine_.stop();
    activity_.tell_changed();
}

void Office::set_paused(bool is_paused) {
    const std::lock_guard ordering(ordering_);
    Settings settings = this->settings();
    settings.is_paused = is_paused;
    save(settings);
}

void Office::measure() {
    const std::lock_guard ordering(ordering_);
    if (machine_.is_running()) {
        throw InputError("the machine is measured while no worker runs: stop them first");
    }
    {
        const std::lock_guard lock(mutex_);
        is_measuring_ = true;
    }
    activity_.tell_changed();
    Settings settings = this->settings();
    Json measured;
    std::string failure;
    try {
        measured = machine_.measure(settings);
        settings.score = measured.at("score").get<std::uint64_t>();
        settings.score_device = settings.device;
    } catch (const std::exception& error) {
        failure = error.what();
    }
    {
        const std::lock_guard lock(mutex_);
        is_measuring_ = false;
        measured_ = std::move(measured);
    }
    if (!failure.empty()) {
        activity_.tell_changed();
        throw InputError("the device \"" + settings.device + "\" cannot be measured: " + failure);
    }
    save(settings);
}

void Office::send(const Order& order, std::string_view password) { clerk_.send(order, keys_.open(password)); }

void Office::look_at_limits() {
    std::vector<Reading> readings = read_hwmon();
    std::vector<Gpu> gpus = nvml_.gpus();
    for (const Gpu& gpu : gpus) {
        if (gpu.celsius) {
            readings.push_back({.name = gpu.name, .celsius = *gpu.celsius, .is_gpu = true});
        }
    }
    const std::lock_guard lock(mutex_);
    closed_ = limits_.judge(settings_, minute_of_day(), readings, std::chrono::steady_clock::now());
    readings_ = std::move(readings);
    gpus_ = std::move(gpus);
}

void Office::run_limits() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
        wake_.wait_for(lock, kLimitsEvery, [this] { return is_over_; });
        if (is_over_) {
            return;
        }
        const auto before = closed_;
        lock.unlock();
        look_at_limits();
        lock.lock();
        if (before != closed_) {
            lock.unlock();
            activity_.tell_changed();
            lock.lock();
        }
    }
}

Json Office::snapshot() const {
    Json out = clerk_.snapshot();
    const auto account = keys_.account();
    out["account"] = account ? Json(crypto::to_address(*account)) : Json();
    out["is_running"] = machine_.is_running();
    out["failures"] = machine_.failures();
    out["activity"] = activity_.snapshot();
    const std::lock_guard lock(mutex_);
    out["settings"] = ui::to_json(settings_);
    out["closed"] = closed_ ? Json(*closed_) : Json();
    out["machine"] = {
        {"cores", std::thread::hardware_concurrency()},
        {"memory_bytes", system::available_memory().value_or(0)},
        {"gpus", to_json(gpus_)},
        {"sensors", to_json(readings_)},
        {"is_measuring", is_measuring_},
        {"measured", measured_}};
    return out;
}

}  // namespace assay::ui
