// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include <verifier/cell/hosts.hpp>
#include <verifier/engine/backend/options.hpp>

namespace assay::cell {

struct MemberOptions {
    Hosts hosts;
    std::string name;
    engine::EngineOptions engine;
};
/// Works for the lead until `stop`. A lead that cannot be reached is tried again. Throws std::runtime_error if the
/// hosts do not have the member, if this machine cannot be linked as they ask for, or if the lead refuses it. Call it
/// before other threads are started.
void run_member(const MemberOptions& options, const std::atomic<bool>& stop);

}  // namespace assay::cell
