// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/chaos.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/plain_run.hpp>
#include <tools/demo/store_server.hpp>
#include <tools/demo/surroundings.hpp>

namespace assay::demo {

/// What a demo with --store or --chaos has besides: the store that the task and the checkpoints lie in, faults, and a
/// plain demo to compare with. Without --chaos the solver is stopped when it has completed, so that verifiers have to
/// read what it left in the store.
class StoreCast final : public Surroundings {
  public:
    /// Starts the store's server below `home`, and the plain demo. Throws NotHere if there is no such server.
    StoreCast(
        const DemoOptions& options, const std::filesystem::path& bin, const std::filesystem::path& home,
        Network& network, Narrator& narrator
    );

    void adjust(contracts::Params& params) const override;
    contracts::TaskSpec relocate(contracts::TaskSpec spec, const artifacts::ContentStore& packed) const override;
    std::vector<std::string> arguments_of(const std::string& worker) override;
    void hear(const WorkerEvent& heard) override;
    void act(const contracts::Task& task) override;
    void complete(nlohmann::json& report, const Act& act) override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    StoreKind kind_;
    Network& network_;
    Narrator& narrator_;
    std::unique_ptr<StoreServer> server_;
    std::optional<Chaos> chaos_;
    PlainRun plain_;
    std::optional<std::uint64_t> solver_left_at_;  ///< height
};

}  // namespace assay::demo
