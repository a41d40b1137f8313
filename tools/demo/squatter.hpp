// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// Somebody who wants the places of validators without the stake.
namespace assay::demo {

/// Tries to take all places of validators (VAL-1): from many accounts with little money, with as many consensus keys as
/// there are places, each offered first by somebody who does not have it. An account's registrations follow a bond that
/// the state allows, so that the mempool takes them and blocks have to refuse them.
class Squatter final : public Outsider {
  public:
    explicit Squatter(Network& network);

    /// Once, as soon as the task is judged.
    void act(const contracts::Task& own) override;
    /// {"tried", "charged", "reasons", "registered", "places"}: how many registrations it signed; how many of them blocks
    /// charged; how many failed for which reason; how many of its accounts are registered; how many places are free.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void register_keys(const std::string& name);
    void note(const Answer& answer);

    std::uint64_t tried_ = 0;
    std::vector<Hash256> sent_;
    std::map<std::string, std::uint64_t> refusals_;
    bool has_begun_ = false;
};

}  // namespace assay::demo
