// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/params.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/task.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/report.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::demo {

/// What a demo has around its actors besides: stores, faults, home routers, keys. Such a demo is of one task. If that
/// is honest, its root is compared with that of the plain demo of the same seed.
class Surroundings {
  public:
    virtual ~Surroundings() = default;

    /// Where the submitter's server listens.
    virtual std::string submitter_address() const { return "127.0.0.1"; }
    virtual void adjust(contracts::Params& /*params*/) const {}
    /// The task, with its artifacts where they lie.
    virtual contracts::TaskSpec relocate(contracts::TaskSpec spec, const artifacts::ContentStore& /*packed*/) const {
        return spec;
    }
    /// What a worker's command line has besides. Called before it is started.
    virtual std::vector<std::string> arguments_of(const std::string& worker) = 0;
    /// Called once the task is on the chain.
    virtual void submitted(const contracts::TaskId& /*task*/) {}
    virtual void hear(const WorkerEvent& heard) = 0;
    /// Called at each block.
    virtual void act(const contracts::Task& task) = 0;
    /// Adds to the report of the demo. Waits for the plain demo.
    virtual void complete(nlohmann::json& report, const Act& act) = 0;
    /// What is not as it should be, in words.
    virtual std::vector<std::string> judge(const nlohmann::json& report) const = 0;
};

/// Whether the options ask for any.
bool has_surroundings(const DemoOptions& options);
/// Null if they do not. Throws NotHere if this machine lacks what they need.
std::unique_ptr<Surroundings> make_surroundings(
    const DemoOptions& options, const std::filesystem::path& bin, const std::filesystem::path& home, Network& network,
    Narrator& narrator
);

/// What anybody lost by the task, in grains: stakes, and seats in the beacon.
std::uint64_t losses_of(const Act& act);

}  // namespace assay::demo
