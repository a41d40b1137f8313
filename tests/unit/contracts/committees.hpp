// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <tests/unit/contracts/toy.hpp>

/// Committees of toy tasks for tests: who attests, and what the beacon draws afterwards.
namespace assay::contracts::test {

/// A task that an honest solver completed and on which no verifier, of `others` and one more, gave a verdict; it waits
/// for a committee.
TaskId unjudged_task(Chain& chain, std::size_t others);

/// Empty blocks until a committee sits over the task.
Committee await_committee(Chain& chain, const TaskId& id);

/// What `who` has to show of a task that `run` solved; of an account that is no member the first member's tile.
AttestAvailability make_attestation(const Chain& chain, const ToyRun& run, const TaskId& id, const AccountId& who);

/// The first `count` members that have not attested do so, as long as the committee sits.
void attest(Chain& chain, const ToyRun& run, const TaskId& id, std::size_t count = 1'000);

/// Empty blocks until the committee's time is over; none when it sits no more.
void end_sitting(Chain& chain, const TaskId& id);

/// AVL-1 to AVL-7: from a task that waits for a draw to its verifiers: a committee finds available what `run` solved.
void redraw(Chain& chain, const TaskId& id, const ToyRun& run);

/// Through the commit phase without a verdict and the challenge window, until the task waits for a draw.
void give_no_verdict(Chain& chain, const TaskId& id);

/// Five seats; whoever is a member has time to attest one block after another.
Params params_of_five();
std::uint64_t locked_of_verifiers(const Chain& chain);
std::size_t attesters(const Chain& chain, const TaskId& id);
/// Members attest one after another until they have most of the seats; then the committee's time passes.
void attest_by_majority(Chain& chain, const TaskId& id);
/// Everybody who has attested takes its free stake back, in one block.
void disarm_attesters(Chain& chain, const TaskId& id);

}  // namespace assay::contracts::test
