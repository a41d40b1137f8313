// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tests/unit/contracts/fixture.hpp>

/// Contributors to the beacon for tests, with their secrets, and tasks that wait for its draws.
namespace assay::contracts::test {

inline constexpr std::uint64_t kBond = 10 * kCoin;

Params beacon_params();
Hash256 secret_of(const Actor& actor, int number);
Hash256 commitment_of(const Actor& actor, int number);
JoinBeacon join(const Actor& actor, int number = 0);
Contribute contribute(const Actor& actor, int number = 0);
Beacon beacon_of(const Chain& chain);
void seat(Chain& chain, const Actor& actor, std::uint64_t coins = 100);
/// A task that is drawn while nobody contributes yet, with all its checkpoints.
TaskId trained_task(Chain& chain);
/// A chain with these contributors, in whose open round a completed task waits for its verifiers.
TaskId open_round(Chain& chain, const std::vector<const Actor*>& contributors);
/// A completed task of which only its submitter, who contributes, has verifier stake: nobody can be drawn.
TaskId complete_without_verifiers(Chain& chain);
std::vector<std::pair<std::uint32_t, AccountId>> drawn_for(const Chain& chain, const TaskId& id);

}  // namespace assay::contracts::test
