// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker, not a party to a task, that fills blocks so that answers to duties come too late.
namespace assay::demo {

/// Two attacks on block space: many transactions in a queue whose account can pay only one fee (POOL-1), and blocks
/// filled at twice the base fee until the money is spent (FEE-2).
class Spammer final : public Outsider {
  public:
    explicit Spammer(Network& network);

    /// Once the task is judged, keeps about two blocks of transfers pending. Does nothing when the money is spent.
    void act(const contracts::Task& own) override;
    /// {"refused", "sent", "full_blocks", "base_fee_max"}: transactions of the first attack that the mempool refused;
    /// transfers that it accepted; blocks that were at least 90 % full; the highest base fee seen, in grains.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void queue_behind_one_fee();
    /// Returns a transfer of one grain to the account itself.
    contracts::Action filler(const std::string& name) const;

    bool has_begun_ = false;
    bool is_broke_ = false;
    std::uint64_t sent_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t base_fee_max_ = 0;
    std::uint64_t first_block_ = 0;
};

}  // namespace assay::demo
