// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <verifier/cell/hosts.hpp>
#include <verifier/engine/backend/options.hpp>
#include <verifier/engine/backend/step_machine.hpp>

namespace assay::cell {

/// The layout's name is none, or is for another number of machines.
class PlanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct LeadOptions {
    Hosts hosts;
    /// A layout's name (plan::decode_layout). With fewer machines than it needs, as many work as it can be made for.
    /// With ":auto" at its end, rows of the batch, stages and columns are divided by how fast the machines turn out to
    /// be: with each kept state anew, if the slowest machine computes for a tenth less then (by_speed()).
    std::string layout = "zero1";
    /// Of the lead's own rank. `memory_bytes` is what each rank may have of values: outputs are computed again for it.
    engine::EngineOptions engine;
    std::filesystem::path directory = std::filesystem::temp_directory_path();  ///< for states of the session
    std::chrono::milliseconds first_wait{30'000};  ///< how long the first session waits for all members
    std::chrono::milliseconds wait{5'000};         ///< and every further one, after a machine was lost
    std::chrono::milliseconds timeout{300'000};    ///< how long a rank waits for another one's message
    std::uint32_t keep_steps = 50;                 ///< the state is kept on disk every so many steps
};

/// Makes the machine that leads a cell. When a rank is lost, it begins another session with those that are left, from
/// the last state that it kept, and executes the steps since again: the bits are the same in any layout. Members that
/// come later take part from the next kept state on. The directory must exist. Call it before other threads are
/// started. Throws http::NetError if the lead's address cannot be bound, PlanError, and std::runtime_error if this
/// machine cannot be linked as the hosts ask for.
std::shared_ptr<engine::StepMachines> make_lead(const LeadOptions& options);

}  // namespace assay::cell
