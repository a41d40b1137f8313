// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker that makes solvers wait for artifacts that never arrive.
namespace assay::demo {

/// A local port that accepts connections, through the kernel's queue, but never answers.
class MutePort {
  public:
    /// Throws std::runtime_error if no port is free.
    MutePort();
    ~MutePort();
    MutePort(const MutePort&) = delete;
    MutePort& operator=(const MutePort&) = delete;
    const std::string& url() const { return url_; }

  private:
    int fd_;
    std::string url_;
};

/// Submits a dozen tasks whose programs are at such ports. Each promises a reward, which is refunded.
class Staller final : public Outsider {
  public:
    explicit Staller(Network& network);

    /// Submits all of them, so that a solver is drawn for one of them before the demo's own task.
    void prepare(const Packer& pack) override;
    /// Cancels them once the demo's own task is trained.
    void act(const contracts::Task& own) override;
    /// Returns tally().
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    std::vector<std::unique_ptr<MutePort>> ports_;
    bool has_cancelled_ = false;
};

}  // namespace assay::demo
