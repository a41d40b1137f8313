// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/challenges.hpp>

#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/chain/duty.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/verification/lottery.hpp>
#include <contracts/verification/verification.hpp>

namespace assay::contracts::test {

Params all_checked(std::uint32_t forced_error_bps) {
    Params params = quick_params();
    params.segments_checked = 4;
    params.challenge_blocks = 40;
    params.publish_blocks = 12;
    params.disclose_blocks = 12;
    params.forced_error_bps = forced_error_bps;
    return params;
}

TaskId published_task(Chain& chain, const ToyRun& run, const ToyRun& finds) {
    chain.probe_root = [&finds](std::uint32_t segment, std::uint32_t probe) {
        return root_of(finds.state((segment - 1) * ToyRun::kInterval + probe));
    };
    const TaskId id = complete_toy_task(chain, run);
    chain.skip(1);
    chain.commit_all(id);
    chain.publish_all(id);
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
    return id;
}

DisputeId challenge(
    Chain& chain, const Actor& who, const TaskId& id, std::uint32_t segment, Role role, const Hash256& seal
) {
    const Assignment before = chain.assignment(chain.verifier, id, segment);
    ChallengeVerdict challenge{id, segment, chain.verifier.id, role};
    challenge.seal = seal;
    REQUIRE(chain.run(who, challenge) == 0);
    return dispute_id(id, segment, who.id, DisputedVerdict{chain.verifier.id, before.forced == true});
}

Hash256 seal_of(const Chain& chain, const Actor& who, const TaskId& id, std::uint32_t segment) {
    const Assignment assignment = chain.assignment(chain.verifier, id, segment);
    const DisputeId dispute = dispute_id(id, segment, who.id, DisputedVerdict{chain.verifier.id, false});
    return challenge_seal(dispute, chain.probe_root(segment, assignment.probe));
}

DisputeId challenge_as_watcher(Chain& chain, const Actor& who, const TaskId& id, std::uint32_t segment) {
    return challenge(chain, who, id, segment, Role::kWhistleblower, seal_of(chain, who, id, segment));
}

void keep_secret(Chain& chain) { chain.skip(chain.params.challenge_blocks / 2 - 1); }

Dispute dispute_of(const Chain& chain, const DisputeId& id) { return find_dispute(chain.view, id).value(); }

std::uint8_t disclose(Chain& chain, const TaskId& id, std::uint32_t segment) {
    return chain.disclose(chain.verifier, id, segment, chain.assignment(chain.verifier, id, segment).end_root);
}

TxError as_error(std::uint8_t code) { return static_cast<TxError>(code); }

}  // namespace assay::contracts::test
