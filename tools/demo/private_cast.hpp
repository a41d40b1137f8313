// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/system/process.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/plain_run.hpp>
#include <tools/demo/surroundings.hpp>

namespace assay::demo {

/// What a demo with --private has besides: a submitter that shares the task's keys, by `assay task share-keys`, and
/// that opens the result at the end; of an honest task a solver that is killed once, and has its keys again when it
/// comes back, and a plain demo to compare with. A submitter that cheats shares other keys with the first solver that
/// is drawn; then it has `assay task share-keys` go on.
class PrivateCast final : public Surroundings {
  public:
    PrivateCast(const DemoOptions& options, const std::filesystem::path& home, Network& network, Narrator& narrator);

    void adjust(contracts::Params& params) const override;
    std::vector<std::string> arguments_of(const std::string& /*worker*/) override { return {}; }
    void submitted(const contracts::TaskId& task) override;
    void hear(const WorkerEvent& heard) override;
    void act(const contracts::Task& task) override;
    void complete(nlohmann::json& report, const Act& act) override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void share(const contracts::TaskId& task);
    void share_others(const contracts::TaskId& id);
    void hire_another();
    nlohmann::json end_sharing();
    nlohmann::json fetch_result(const contracts::TaskId& task) const;
    /// The files that anybody is served, in which one of these artifacts lies under its SHA-256.
    std::vector<std::string> served_in_plain(const contracts::TaskSpec& spec) const;

    Fraud fraud_;
    bool in_tolerance_;
    std::filesystem::path home_;
    Network& network_;
    Narrator& narrator_;
    std::optional<PlainRun> plain_;
    std::string shared_;  ///< what `assay task share-keys` has printed
    std::unique_ptr<system::Process> sharing_;
    bool was_killed_ = false;    ///< the solver, once
    bool has_deceived_ = false;  ///< the submitter, with keys of nothing
    double sealed_s_ = 0;
    std::uint64_t sealed_bytes_ = 0;
    std::uint32_t checkpoints_ = 0;  ///< sealed
    double steps_per_s_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace assay::demo
