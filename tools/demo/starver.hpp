// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include <tools/demo/drafter.hpp>

/// An attacker that tries to leave verifiers without free stake when they need some.
namespace assay::demo {

/// Has verifiers drawn for other work while they judge the demo's own task, until too few of them have free stake for
/// another duty: a rejection must not need any (DSP-46).
class Starver final : public Drafter {
  public:
    using Drafter::Drafter;

    void prepare(const Packer& pack) override;
    /// Acts once, when the verifiers have been drawn; then watches what free stake they have left.
    void act(const contracts::Task& own) override;
    /// The report of Drafter with "starved": verifiers that were seen without enough free stake for a challenger's
    /// bond.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void look_at_stakes();

    std::set<std::string> starved_;
    bool has_begun_ = false;
};

}  // namespace assay::demo
