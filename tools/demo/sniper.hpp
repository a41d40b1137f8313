// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tools/demo/narrator.hpp>
#include <tools/demo/outsider.hpp>

/// A cheat's accomplice that takes the prize for its conviction.
namespace assay::demo {

/// Has stake as a whistleblower and knows where the solver cheats. It disputes that segment before anybody else can have
/// replayed it, plays until the end is near, waits until an honest accuser pays for moves of its own, and ends the game
/// first: the larger share of what half of the solver's bond pays is back with its owner, and the honest accuser's dispute is moot.
class Sniper final : public Outsider {
  public:
    Sniper(Network& network, Narrator& narrator);

    void prepare(const Packer& pack) override;
    void act(const contracts::Task& own) override;
    /// What honest accusers paid to open disputes that paid them nothing.
    std::uint64_t harm() override;
    bool is_accomplice() const override { return true; }
    /// {"segment", "won_by", "prize", "sniper", "honest"}, as docs/operations/demo.md has it.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    enum class Phase : std::uint8_t { kWaiting, kPlaying, kHolding, kEnding };
    /// Of one who accused the solver of this segment.
    struct Accuser {
        std::uint64_t disputes = 0;
        std::uint64_t spent = 0;    ///< fees of opening and of moves, in grains
        std::uint64_t opening = 0;  ///< of opening alone
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
