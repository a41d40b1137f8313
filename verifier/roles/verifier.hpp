// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/base/integers.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/task.hpp>
#include <verifier/roles/finding.hpp>
#include <verifier/roles/intent.hpp>

namespace assay::roles {

/// What a verifier knows about one of its assignments.
struct VerifierView {
    contracts::Task task;
    contracts::Assignment assignment;
    Hash256 claimed;  ///< state root that the solver claims after the segment
    Replays replays;
    bool has_kept_verdict = false;  ///< the opening of our commitment is on our disk
    bool is_challenged = false;     ///< our verdict was challenged, and the next block may disclose it (DSP-42)
    bool is_breaker_open = false;
};

/// What an account knows about a task with a committee.
struct MemberView {
    contracts::Task task;
    AccountId self;
    bool is_breaker_open = false;
};
/// Returns Attest for a member of the current committee that has not attested yet (AVL-3), unless its circuit breaker
/// is open: whoever attests may be drawn for the replay.
Intent decide_member(const MemberView& view);

/// The parts of a verdict's opening that nobody may guess (VER-2).
struct VerdictSecrets {
    Hash256 decoy_root;
    Hash256 salt;
    bool operator==(const VerdictSecrets&) const = default;
};
/// Returns the secrets of a verdict: tagged hashes "assay/verdict-secrets" over key, chain id, task, `place` (the
/// segment, and where the task was cut) and the offset of the assignment's marks. They follow from the key, so a
/// verifier that has lost its disk makes the opening of its commitment again: a replay gives the rest of it.
VerdictSecrets verdict_secrets(
    const crypto::SecretKey& key, const std::string& chain_id, const contracts::TaskId& task, std::uint32_t place,
    const contracts::Assignment& assignment
);

/// Whether the kept opening can be published for the assignment: nothing is committed yet, or it opens the commitment.
/// After disk loss it may not; publishing another opening costs the whole bond (VER-14), publishing none a tenth
/// (VER-5).
bool is_opening_of(
    const contracts::Assignment& assignment, const contracts::TaskId& task, const contracts::VerdictOpening& kept
);

/// Returns the next action for the assignment: replay before committing, twice before rejecting, since the assignment's
/// reserve backs the dispute (DSP-46); publish once all commitments of the task are in; disclose after the challenge
/// window, or half a window after a challenge. An assignment whose opening is lost is replayed once, to make it again.
Intent decide_verifier(const VerifierView& view);

}  // namespace assay::roles
