// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tools/demo/abci_relay.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/outsider.hpp>

/// A dishonest validator that tries to have a payment executed twice.
namespace assay::demo {

/// Relays between the engine and the application of one validator, so that its proposals contain a transaction twice.
/// Meanwhile a customer makes one payment after the other.
class Doubler final : public Outsider {
  public:
    /// Throws cometbft::EngineError, which says what to do, if CometBFT is not installed.
    Doubler(Network& network, Narrator& narrator);
    ~Doubler() override;

    void prepare(const Packer& pack) override;
    void act(const contracts::Task& own) override;
    /// Returns true when enough proposals have been rejected, or after a timeout.
    bool is_over() override;
    /// Returns what the customer lost beyond what it wanted to pay.
    std::uint64_t harm() override;
    /// {"validators", "doubled", "refused", "refusals", "transfers", "height"}; see docs/operations/demo.md.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    struct Transfers {
        std::uint64_t asked = 0;
        std::uint64_t confirmed = 0;  ///< according to the client that sent it
        std::uint64_t uncertain = 0;
        std::uint64_t failed = 0;
    };
    void pay(const std::string& url);
    void stop();
    /// The heights at which honest validators rejected a proposal because of its contents, and the number of
    /// rejections.
    struct Refusals {
        std::vector<std::uint64_t> heights{};
        std::uint64_t count = 0;
    };
    Refusals count_refusals();
    std::uint64_t balance(const std::string& name);

    Narrator& narrator_;
    std::unique_ptr<AbciRelay> relay_;
    std::mutex mutex_;
    Transfers transfers_;
    std::atomic<bool> stopping_{false};
    std::thread customer_;
    std::optional<std::chrono::steady_clock::time_point> waiting_since_;
    std::uint64_t told_ = 0;
};

}  // namespace assay::demo
