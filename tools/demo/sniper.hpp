// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tools/demo/narrator.hpp>
#include <tools/demo/outsider.hpp>

/// A dishonest solver's accomplice that tries to win the reward for the solver's conviction.
namespace assay::demo {

/// It has stake as a whistleblower and knows where the solver cheats. It disputes that segment before anybody else can
/// have replayed it, plays almost to the end, waits until an honest accuser has paid for moves of its own, and ends its
/// dispute first. The larger share of what half of the solver's bond pays then goes back to its owner, and the honest
/// accuser's dispute is moot.
class Sniper final : public Outsider {
  public:
    Sniper(Network& network, Narrator& narrator);

    void prepare(const Packer& pack) override;
    void act(const contracts::Task& own) override;
    /// Returns what honest accusers paid to open disputes that paid them nothing.
    std::uint64_t harm() override;
    bool is_accomplice() const override { return true; }
    /// {"segment", "won_by", "prize", "sniper", "honest"}; see docs/operations/demo.md.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    enum class Phase : std::uint8_t { kWaiting, kPlaying, kHolding, kEnding };
    /// An account that accused the solver of this segment.
    struct Accuser {
        std::uint64_t disputes = 0;
        std::uint64_t spent = 0;    ///< fees for opening and for moves, in grains
        std::uint64_t opening = 0;  ///< fees for opening alone
        std::uint64_t earned = 0;
        bool has_won = false;
    };
    void open(const contracts::Task& own);
    void hold(const contracts::Task& own);
    std::map<std::string, Accuser> accusers();

    Narrator& narrator_;
    Phase phase_ = Phase::kWaiting;
    std::uint32_t segment_ = 0;
    std::optional<contracts::TaskId> own_;
};

}  // namespace assay::demo
