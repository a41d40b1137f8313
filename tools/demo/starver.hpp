// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include <tools/demo/drafter.hpp>

/// Somebody who wants verifiers to have no stake left when they need some.
namespace assay::demo {

/// Drafts verifiers while they judge the demo's own task, until too few of them have free stake for another duty: a
/// rejection must need none (DSP-46).
class Starver final : public Drafter {
  public:
    using Drafter::Drafter;

    void prepare(const Packer& pack) override;
    /// Once, when the verifiers have been drawn; then looks at what stake they have left.
    void act(const contracts::Task& own) override;
    /// The same with "starved": verifiers that were seen without free stake for a challenger's bond.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void look_at_stakes();

    std::set<std::string> starved_;
    bool has_begun_ = false;
};

}  // namespace assay::demo
