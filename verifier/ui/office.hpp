// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <verifier/ui/activity.hpp>
#include <verifier/ui/clerk.hpp>
#include <verifier/ui/keyring.hpp>
#include <verifier/ui/limits.hpp>
#include <verifier/ui/machine.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {

/// The state of the client: settings, key, limits, workers. What the page orders is done here. Thread-safe.
class Office {
  public:
    /// How often the limits are judged.
    static constexpr std::chrono::seconds kLimitsEvery{2};

    /// Throws InputError or crypto::KeyFileError if a file of the home cannot be read. `machine` and `activity` must
    /// outlive this object.
    Office(
        const std::filesystem::path& home, Place place, Machine& machine, Activity& activity,
        crypto::KeystoreCost cost = {}
    );
    ~Office();
    Office(const Office&) = delete;
    Office& operator=(const Office&) = delete;

    // What the owner orders. All throw InputError where the input is wrong.
    Keyring& keys() { return keys_; }
    void note_key();  ///< a key was made: its account is asked about
    void change(const nlohmann::json& change);
    /// Starts the workers. With an empty password the key of the last start is used.
    void start(std::string_view password, bool resets_breaker);
    void stop();
    void set_paused(bool is_paused);
    void measure();
    void send(const Order& order, std::string_view password);
    void forget(const std::string& order) { clerk_.forget(order); }

    /// Everything that the page shows.
    nlohmann::ordered_json snapshot() const;
    Settings settings() const;
    /// Why no new work is taken; nullopt if it is.
    std::optional<std::string> closed() const;
    std::optional<client::Anchor> anchor() const { return clerk_.anchor(); }

  private:
    void save(const Settings& settings);
    void run_limits();
    void look_at_limits();

    const std::filesystem::path home_;
    Machine& machine_;
    Activity& activity_;
    Keyring keys_;
    std::mutex ordering_;                     ///< one order that starts, stops or measures at a time
    std::optional<crypto::SecretKey> key_{};  ///< since the first start; under ordering_

    mutable std::mutex mutex_;  ///< of what follows
    Settings settings_;
    std::optional<std::string> closed_{};
    std::vector<Reading> readings_{};
    std::vector<Gpu> gpus_{};
    nlohmann::ordered_json measured_{};
    bool is_measuring_ = false;
    bool is_over_ = false;
    bool is_asked_ = false;
    std::condition_variable wake_;

    LimitWatch limits_;  ///< of the thread of the limits
    Nvml nvml_;
    Clerk clerk_;
    std::thread thread_;
};

}  // namespace assay::ui
