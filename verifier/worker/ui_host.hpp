// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <verifier/ui/activity.hpp>
#include <verifier/ui/machine.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/intake.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/worker.hpp>

namespace assay::ui {
class Office;
}

namespace assay::worker {

/// Runs the workers that an owner has chosen on the page, each on a thread and in a home of its own below the client's:
/// solve/, verify/ and whistleblow/.
class UiHost final : public ui::Machine, public Intake {
  public:
    /// `options` hold what every worker of this process has; `behaviour` makes that of each.
    UiHost(
        WorkerOptions options, std::function<std::unique_ptr<Behaviour>(const WorkerOptions&)> behaviour,
        ui::Activity& activity
    );
    ~UiHost() override;
    UiHost(const UiHost&) = delete;
    UiHost& operator=(const UiHost&) = delete;
    /// Whose limits hold. Before any other call.
    void serve(const ui::Office& office) { office_ = &office; }

    void check(const ui::Settings& settings) const override;
    nlohmann::ordered_json measure(const ui::Settings& settings) override;
    void start(const ui::Settings& settings, const crypto::SecretKey& key, bool resets_breaker) override;
    void stop() override;
    bool is_running() const override;
    nlohmann::ordered_json failures() const override;

    std::optional<std::string> closed() const override;
    std::uint64_t least_price() const override;
    std::uint64_t memory_max() const override;
    std::uint64_t score() const override;

  private:
    struct Running {
        std::string role;
        WorkerOptions options;
        std::unique_ptr<Behaviour> behaviour;
        std::thread thread{};
        std::atomic<bool> is_over{false};
    };
    WorkerOptions options_for(const ui::Settings& settings, Mode mode, std::uint64_t workers) const;
    void run(Running& running, const crypto::SecretKey& key);

    const WorkerOptions options_;
    const std::function<std::unique_ptr<Behaviour>(const WorkerOptions&)> behaviour_;
    ui::Activity& activity_;
    const ui::Office* office_ = nullptr;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> memory_each_{0};

    mutable std::mutex mutex_;  ///< of what follows
    std::list<Running> workers_;
    std::map<std::string, std::string> failures_;
};

}  // namespace assay::worker
