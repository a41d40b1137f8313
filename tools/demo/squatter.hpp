// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker that tries to take the validator places without stake.
namespace assay::demo {

/// Tries to take all validator places (VAL-1) from many accounts with little money, with as many consensus keys as
/// there are places. Each key is first offered by an account that does not have it. Each account's registrations follow
/// a bond that the state allows, so the mempool accepts them and blocks have to refuse them.
class Squatter final : public Outsider {
  public:
    explicit Squatter(Network& network);

    /// Attacks once, as soon as the task is judged.
    void act(const contracts::Task& own) override;
    /// {"tried", "charged", "reasons", "registered", "places"}: registrations that it signed; of those, charged in
    /// blocks; failures by reason; its accounts that are registered; free places.
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
