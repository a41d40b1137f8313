// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::contracts {

/// PAR-13: the version of the protocol that this program implements. Programs of one version agree on every byte, hash
/// and outcome of a chain. A change that the changelog marks STATE-BREAKING increments it if the current version has
/// been released; docs/protocol/versions.json records what each version's vectors are, and
/// tools/checks/check_protocol_version.py compares.
inline constexpr std::uint32_t kProtocolVersion = 3;

}  // namespace assay::contracts
