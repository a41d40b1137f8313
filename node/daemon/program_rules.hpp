// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <core/base/integers.hpp>
#include <contracts/state/protocol.hpp>
#include <contracts/state/state.hpp>

namespace assay::node {

/// What of the rules this program executes (GOV-8).
struct ProgramRules {
    std::uint32_t protocol_version = contracts::kProtocolVersion;
    /// The block before which the validators halted the chain, and with which its operator has it go on.
    std::optional<Height> resume_at{};
};

/// GOV-8: why this program must not execute the block after `height`, whose state is `state`, in words for an operator;
/// nullopt: it may.
std::optional<std::string> why_halted(const ProgramRules& program, const contracts::StateView& state, Height height);

}  // namespace assay::node
