// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// Somebody who is no party to a task and fills blocks, so that duties come too late.
namespace assay::demo {

/// Two attacks on block space: a queue of transactions behind one fee, from an account that can pay that fee alone
/// (POOL-1), and blocks filled at twice the base fee until the money is gone (FEE-2).
class Spammer final : public Outsider {
  public:
    explicit Spammer(Network& network);

    /// Once the task is judged, keeps some two blocks of transfers waiting; does nothing once the money is gone.
    void act(const contracts::Task& own) override;
    /// {"refused", "sent", "full_blocks", "base_fee_max"}: of the queue behind one fee, what the mempool refused; of the
    /// transfers, how many it took; how many blocks were nine tenths full; the highest base fee seen, in grains.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void queue_behind_one_fee();
    /// A transfer of a grain to itself.
    contracts::Action filler(const std::string& name) const;

    bool has_begun_ = false;
    bool is_broke_ = false;
    std::uint64_t sent_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t base_fee_max_ = 0;
    std::uint64_t first_block_ = 0;
};

}  // namespace assay::demo
