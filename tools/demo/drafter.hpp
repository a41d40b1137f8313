// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker that has verifiers drawn for work that nobody can do.
namespace assay::demo {

/// Submits tasks of value 0 in tolerance mode whose program nobody can fetch: profilers are drawn, lock a bond each
/// (PRF-1) and cannot report.
class Drafter : public Outsider {
  public:
    explicit Drafter(Network& network);

    /// Submits them before the demo's own task.
    void prepare(const Packer& pack) override;
    void act(const contracts::Task& own) override;
    /// Returns true when all of its tasks have ended, so that the verifiers' losses are known.
    bool is_over() override;
    /// Returns tally().
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  protected:
    void make_spec(const Packer& pack);
    void draft(std::uint64_t count);

  private:
    contracts::TaskSpec spec_;
};

}  // namespace assay::demo
