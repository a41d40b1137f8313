// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// Somebody who wants solvers to wait for artifacts that never come.
namespace assay::demo {

/// A port of this machine where connections are taken, by the kernel's queue, and nothing is ever said.
class MutePort {
  public:
    /// Throws std::runtime_error when there is no free port.
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

    /// Submits them all, so that a solver is drawn for one of them before the demo's own task.
    void prepare(const Packer& pack) override;
    /// Takes them back once the demo's own task is trained.
    void act(const contracts::Task& own) override;
    /// As tally() has it.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    std::vector<std::unique_ptr<MutePort>> ports_;
    bool has_cancelled_ = false;
};

}  // namespace assay::demo
