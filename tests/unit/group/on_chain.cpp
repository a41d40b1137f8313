// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/group/on_chain.hpp>

#include <utility>

#include <doctest/doctest.h>

#include <contracts/arbitration/arbitration.hpp>
#include <core/dispute/accuser.hpp>

namespace assay::group::testing {

using contracts::DisputeId;
using contracts::Params;
using contracts::Role;
using contracts::test::Actor;
using contracts::test::kCoin;
using dispute::testing::ScalarReplay;

namespace {

/// Partners bond one after another, between the draw and the acceptance.
Params patient() {
    Params params = contracts::test::all_segments();
    params.accept_blocks = 50;
    return params;
}

/// One move of whoever has to make it, by a true replay.
void move(Members& at, const DisputeId& id, ScalarReplay& replay, std::vector<dispute::NodeReveal>& reveals) {
    const contracts::Dispute dispute = find_dispute(at.chain.view, id).value();
    const Actor& responder = at.chain.actor_of(dispute.responder);
    const Actor& challenger = at.chain.actor_of(dispute.challenger);
    if (dispute.position.is_at_proof()) {
        const auto proof = dispute::make_proof(dispute.claim, dispute.position, replay, reveals);
        REQUIRE(at.chain.run(responder, contracts::ProveMove{id, proof}) == 0);
    } else if (dispute.position.pending().empty()) {
        const auto children = dispute::make_reveal(dispute.claim, dispute.position, replay);
        if (const auto first = dispute::first_node_of(dispute.position)) {
            reveals.push_back({*first, dispute::split(dispute.claim, dispute.position).child_height, children});
        }
        REQUIRE(at.chain.run(responder, contracts::RevealMove{id, dispute.position.rounds, children}) == 0);
    } else {
        const auto selection = dispute::make_selection(dispute.claim, dispute.position, replay);
        REQUIRE(at.chain.run(challenger, contracts::SelectMove{id, dispute.position.rounds, selection}) == 0);
    }
}

/// The accusation that a rank can make, or answer with; what it answers has the accuser's first move. nullopt if nobody
/// has misled it before what it is accused of.
std::optional<Answerable> accuse_first(
    Members& at, const GroupRun& run, std::uint32_t rank, const std::optional<Answerable>& asked, ScalarReplay& truth
) {
    const dispute::Claim segment =
        dispute::testing::make_claim(at.model.world, truth, false, 0, at.steps, group::testing::kSeed);
    const auto wrong = group::find_first_wrong(*run.ledgers[rank], segment, truth);
    if (!wrong) {
        return std::nullopt;
    }
    const dispute::StatedOrder told_at = dispute::order_of(wrong->stated.statement.step, wrong->stated.piece);
    if (asked && asked->accused_of) {
        if (told_at >= *asked->accused_of) {
            return std::nullopt;
        }
        std::vector<dispute::NodeReveal> reveals;
        move(at, asked->dispute, truth, reveals);
    }
    contracts::Accuse action{
        .task = at.id,
        .member = at.accounts[wrong->author].id,
        .signature = wrong->signature,
        .contradiction = dispute::make_contradiction(segment, wrong->stated, truth)};
    if (asked) {
        action.answers = asked->dispute;
    }
    REQUIRE(at.chain.run(at.accounts[rank], action) == 0);
    return Answerable{
        .dispute = contracts::accusation_id(at.id, 1, action.member, at.accounts[rank].id, action.answers),
        .rank = wrong->author,
        .accused_of = told_at};
}

}  // namespace

Members::Members(const Model& trained, const plan::Layout& divided, std::uint32_t step_count)
    : model(trained), layout(divided), steps(step_count), chain(patient()) {
    const std::uint32_t partners = layout.ranks() - 1;
    chain.bond_all();
    contracts::TaskSpec spec = contracts::test::honest().spec();
    spec.program = model.world.commitment();
    spec.dataset_root = dispute::dataset_tree(*model.world.rows).root();
    spec.seed = kSeed;
    spec.steps = steps;
    spec.checkpoint_interval = steps;
    id = contracts::test::start_group(chain, spec, partners, true);
    accounts.push_back(chain.solver);
    accounts.insert(accounts.end(), chain.others.end() - partners, chain.others.end());
    bond = contracts::test::members_bond(chain);
}

GroupRun Members::train(Doubles doubles) const {
    doubles.key = [this](std::uint32_t rank) { return accounts[rank].key; };
    Signers signers{.chain_id = contracts::test::kChainId, .task = retag<Hash256>(id), .accounts = {}};
    for (const Actor& each : accounts) {
        signers.accounts.push_back(each.id);
    }
    doubles.signers = signers;
    return run_group(model, layout, steps, doubles);
}

void Members::post_start() {
    const Hash256 before = dispute::testing::root_of(model.world.state);
    REQUIRE(chain.run(chain.solver, contracts::PostCheckpoint{id, 0, before, {}}) == 0);
}

void Members::post(const Hash256& root) {
    REQUIRE(chain.run(chain.solver, contracts::PostCheckpoint{id, 1, root, {}}) == 0);
    REQUIRE(chain.run(chain.solver, contracts::CompleteTask{id}) == 0);
    contracts::test::await_state(chain, id, contracts::TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
}

DisputeId Members::dispute() {
    REQUIRE(chain.run(chain.whistleblower, contracts::OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    return contracts::dispute_id(id, 1, chain.whistleblower.id);
}

std::uint64_t Members::had(std::uint32_t rank) const { return rank == 0 ? 100 * kCoin : bond; }

std::uint64_t Members::has(std::uint32_t rank) const {
    const contracts::Stake stake = chain.stake(Role::kSolver, accounts[rank]);
    return stake.free.grains + stake.locked.grains;
}

std::optional<Answerable> accuse(Members& at, const GroupRun& run, std::uint32_t rank, ScalarReplay& truth) {
    return accuse_first(at, run, rank, std::nullopt, truth);
}

std::uint32_t answer(Members& at, const GroupRun& run, Answerable asked, ScalarReplay& truth) {
    for (std::uint32_t answers = 0;; ++answers) {
        if (!find_dispute(at.chain.view, asked.dispute)->game()) {
            return answers;  // STM-5: nothing was left to dispute
        }
        const auto next = accuse_first(at, run, asked.rank, asked, truth);
        if (!next) {
            std::vector<dispute::NodeReveal> reveals;
            while (find_dispute(at.chain.view, asked.dispute)->game()) {
                move(at, asked.dispute, truth, reveals);
            }
            return answers;
        }
        asked = *next;
    }
}

}  // namespace assay::group::testing
