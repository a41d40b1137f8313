// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/unit/contracts/toy.hpp>

/// Verdicts on toy tasks whose every segment is checked: how they are published, challenged and disclosed.
namespace assay::contracts::test {

/// Of 10 steps in segments of 4, every segment checked; all verdicts forced, or none.
Params all_checked(std::uint32_t forced_error_bps = 0);
/// A toy task of `run` with every verdict published, by a verifier who finds what `finds` has at the probes.
TaskId published_task(Chain& chain, const ToyRun& run, const ToyRun& finds);
DisputeId challenge(
    Chain& chain, const Actor& who, const TaskId& id, std::uint32_t segment, Role role, const Hash256& seal = {}
);
/// Of a challenge by `who`, who has replayed up to the probe.
Hash256 seal_of(const Chain& chain, const Actor& who, const TaskId& id, std::uint32_t segment);
DisputeId challenge_as_watcher(Chain& chain, const Actor& who, const TaskId& id, std::uint32_t segment);
/// So that the next block may have the disclosure of a verdict that the last one challenged.
void keep_secret(Chain& chain);
Dispute dispute_of(const Chain& chain, const DisputeId& id);
std::uint8_t disclose(Chain& chain, const TaskId& id, std::uint32_t segment);
TxError as_error(std::uint8_t code);

}  // namespace assay::contracts::test
