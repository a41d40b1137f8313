// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/ui_host.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <core/crypto/address.hpp>
#include <verifier/launcher/statement.hpp>
#include <verifier/relay/message.hpp>
#include <verifier/ui/office.hpp>
#include <verifier/worker/benchmark.hpp>
#include <verifier/worker/offers.hpp>

namespace assay::worker {
namespace {

constexpr double kMeasuredSeconds = 2;

std::vector<Mode> modes_of(const ui::Settings& settings) {
    std::vector<Mode> out;
    const std::pair<bool, Mode> choices[] = {
        {settings.solve, Mode::kSolve}, {settings.verify, Mode::kVerify}, {settings.watch, Mode::kWhistleblow}};
    for (const auto& [is_chosen, mode] : choices) {
        if (is_chosen) {
            out.push_back(mode);
        }
    }
    return out;
}

std::vector<std::string> words_in(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

/// ENV-4: what the page says of the image and labels; nullopt if it says nothing. Throws ui::InputError.
std::optional<contracts::Environment> environment_of(const ui::Settings& settings) {
    if (settings.image.empty() && settings.labels.empty()) {
        return std::nullopt;
    }
    try {
        const auto image =
            settings.image.empty() ? std::nullopt : std::optional(launcher::decode_digest(settings.image));
        return launcher::make_environment(image, words_in(settings.labels));
    } catch (const launcher::StatementError& error) {
        throw ui::InputError(error.what());
    }
}

/// Throws ui::InputError.
std::vector<std::string> relays_of(const ui::Settings& settings) {
    std::vector<std::string> out = words_in(settings.relay);
    for (const std::string& each : out) {
        if (!relay::is_relay_name(each)) {
            throw ui::InputError("\"" + each + "\" is no HOST:PORT of a relay, as in relay.example.org:4010");
        }
    }
    return out;
}

}  // namespace

UiHost::UiHost(
    WorkerOptions options, std::function<std::unique_ptr<Behaviour>(const WorkerOptions&)> behaviour,
    ui::Activity& activity
)
    : options_(std::move(options)), behaviour_(std::move(behaviour)), activity_(activity) {}

UiHost::~UiHost() { stop(); }

void UiHost::check(const ui::Settings& settings) const {
    static_cast<void>(environment_of(settings));
    static_cast<void>(relays_of(settings));
}

nlohmann::ordered_json UiHost::measure(const ui::Settings& settings) {
    engine::EngineOptions engine = options_.engine;
    engine.device = settings.device;
    engine.threads = static_cast<int>(settings.threads);
    return to_json(run_benchmark(engine, kMeasuredSeconds), contracts::Params{});
}

WorkerOptions UiHost::options_for(const ui::Settings& settings, Mode mode, std::uint64_t workers) const {
    WorkerOptions out = options_;
    out.mode = mode;
    // What was promised for one account is no other's.
    out.home = options_.home / (to_string(mode) + (settings.owner.empty() ? std::string() : "-" + settings.owner));
    out.node.url = settings.node;
    out.engine.device = settings.device;
    out.engine.threads = static_cast<int>(settings.threads);
    out.memory_bytes = settings.memory_bytes;
    // They may all compute at once.
    out.memory_bytes = worker::memory_max(out) / std::max<std::uint64_t>(workers, 1);
    out.engine.memory_bytes = out.memory_bytes;
    // A seat in the beacon costs a tenth of its bond when the machine is switched off.
    out.contributes = false;
    if (mode == Mode::kSolve && !settings.publish.empty()) {
        out.publish = {settings.publish};
    }
    if (const auto owner = crypto::decode_address(settings.owner)) {
        out.owner = *owner;
    }
    if (mode == Mode::kSolve) {
        out.environment = environment_of(settings);
    }
    const std::vector<std::string> relays = relays_of(settings);
    out.relays.insert(out.relays.end(), relays.begin(), relays.end());
    if (const auto anchor = office_->anchor()) {
        out.pins.chain_id = anchor->chain_id;
        out.pins.genesis_hash = to_hex(anchor->genesis.view());
    }
    return out;
}

void UiHost::start(const ui::Settings& settings, const crypto::SecretKey& key, bool resets_breaker) {
    const std::vector<Mode> modes = modes_of(settings);
    const std::lock_guard lock(mutex_);
    stop_ = false;
    failures_.clear();
    memory_each_ = settings.memory_bytes / std::max<std::size_t>(modes.size(), 1);
    for (const Mode mode : modes) {
        Running& running = workers_.emplace_back();
        running.role = to_string(mode);
        running.options = options_for(settings, mode, modes.size());
        running.options.reset_breaker = resets_breaker;
        running.behaviour = behaviour_(running.options);
        running.thread = std::thread([this, &running, key] { run(running, key); });
    }
}

void UiHost::run(Running& running, const crypto::SecretKey& key) {
    std::string failure;
    try {
        const Supervision supervision{
            .intake = this, .observer = [this, role = running.role](const nlohmann::ordered_json& event) {
                activity_.note(role, event);
            }};
        run_worker(running.options, key, *running.behaviour, stop_, supervision);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!failure.empty()) {
        activity_.note(running.role, {{"event", "failed"}, {"reason", failure}});
        const std::lock_guard lock(mutex_);
        failures_[running.role] = failure;
    }
    running.is_over = true;
    activity_.tell_changed();
}

void UiHost::stop() {
    stop_ = true;
    std::list<Running> ended;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(workers_);
    }
    for (Running& each : ended) {
        each.thread.join();
    }
}

bool UiHost::is_running() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(workers_.begin(), workers_.end(), [](const Running& each) { return !each.is_over; });
}

nlohmann::ordered_json UiHost::failures() const {
    const std::lock_guard lock(mutex_);
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [role, reason] : failures_) {
        out[role] = reason;
    }
    return out;
}

std::optional<std::string> UiHost::closed() const { return office_->closed(); }
std::uint64_t UiHost::least_price() const { return office_->settings().least_price; }
std::uint64_t UiHost::memory_max() const { return memory_each_; }
std::uint64_t UiHost::score() const { return office_->settings().score; }

}  // namespace assay::worker
