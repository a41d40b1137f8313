// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/program_rules.hpp>

#include <contracts/state/slots.hpp>

namespace assay::node {

std::optional<std::string> why_halted(const ProgramRules& program, const contracts::StateView& state, Height height) {
    const std::string next = std::to_string(height.value + 1);
    const std::uint32_t now = contracts::get_params(state).protocol_version;
    const std::string mine = std::to_string(program.protocol_version);
    const auto plans = contracts::get_plans(state);
    if (plans.empty() || plans.front().height.value != height.value + 1) {
        if (now == program.protocol_version) {
            return std::nullopt;
        }
        return "the chain has version " + std::to_string(now) + " of the protocol for block " + next +
               ", and this program implements version " + mine + ": start the release that implements " +
               std::to_string(now) + " with this home (docs/operations/upgrade.md)";
    }
    const contracts::Plan& plan = plans.front();
    if (plan.protocol_version == now) {
        if (program.resume_at == plan.height) {
            return std::nullopt;
        }
        return "the validators voted to halt the chain before block " + next +
               ". When they have agreed to go on, start with --resume-at " + next;
    }
    if (plan.protocol_version == program.protocol_version) {
        return std::nullopt;
    }
    return "the validators voted that the chain has version " + std::to_string(plan.protocol_version) +
           " of the protocol from block " + next + " on, and this program implements version " + mine +
           ": start the release that implements " + std::to_string(plan.protocol_version) +
           " with this home (docs/operations/upgrade.md)";
}

}  // namespace assay::node
