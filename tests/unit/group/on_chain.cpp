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

/// One move of whoever has to make it. What is proven is proven by the challenger.
void move(
    Members& at, const DisputeId& id, ScalarReplay& responders, ScalarReplay& challengers,
    std::vector<dispute::NodeReveal>& reveals
) {
    const contracts::Dispute dispute = find_dispute(at.chain.view, id).value();
    const Actor& responder = at.chain.actor_of(dispute.responder);
    const Actor& challenger = at.chain.actor_of(dispute.challenger);
    if (dispute.position.is_at_proof()) {
        const auto proof = dispute::make_proof(dispute.claim, dispute.position, challengers, reveals);
        REQUIRE(at.chain.run(challenger, contracts::ProveMove{id, proof}) == 0);
    } else if (dispute.position.pending().empty()) {
        const auto children = dispute::make_reveal(dispute.claim, dispute.position, responders);
        if (const auto first = dispute::first_node_of(dispute.position)) {
            reveals.push_back({*first, dispute::split(dispute.claim, dispute.position).child_height, children});
        }
        REQUIRE(at.chain.run(responder, contracts::RevealMove{id, dispute.position.rounds, children}) == 0);
    } else {
        const auto selection = dispute::make_selection(dispute.claim, dispute.position, challengers);
        REQUIRE(at.chain.run(challenger, contracts::SelectMove{id, dispute.position.rounds, selection}) == 0);
    }
}

void move(Members& at, const DisputeId& id, ScalarReplay& truth, std::vector<dispute::NodeReveal>& reveals) {
    move(at, id, truth, truth, reveals);
}

dispute::Claim segment_of(const Members& at, ScalarReplay& truth) {
    return dispute::testing::make_claim(at.model.world, truth, false, 0, at.steps, kSeed);
}

/// Something right that `author` has told the rank, before what it has to answer for if anything.
struct Right {
    dispute::StatedPiece stated;
    Signature signature;
};
std::optional<Right> find_right(
    const Members& at, const GroupRun& run, std::uint32_t rank, std::uint32_t author,
    const std::optional<Answerable>& asked, ScalarReplay& truth
) {
    const dispute::Claim segment = segment_of(at, truth);
    for (const auto& told : run.ledgers[rank]->told(0)) {
        for (std::size_t i = 0; i < told->values.size() && told->author == author; ++i) {
            const dispute::Piece piece = told->piece(i);
            const std::uint64_t step = told->statement.step;
            const bool can_be_forged = piece.source == canonical::Source::kNode && !piece.part;
            const bool is_earlier = !asked || !asked->accused_of || dispute::order_of(step, piece) < *asked->accused_of;
            if (can_be_forged && is_earlier && dispute::own_values(segment, step, piece, truth) == piece.values) {
                return Right{told->stated(i), told->signature};
            }
        }
    }
    return std::nullopt;
}

/// A false accusation, and the game about it. Returns false if nothing could be forged.
bool accuse_of_right(
    Members& at, const GroupRun& run, std::uint32_t accuser, std::uint32_t accused,
    const std::optional<Answerable>& asked, ScalarReplay& truth
) {
    const auto right = find_right(at, run, accuser, accused, asked, truth);
    if (!right) {
        return false;
    }
    std::vector<dispute::NodeReveal> reveals;
    if (asked && asked->accused_of) {
        move(at, asked->dispute, truth, reveals);
        reveals.clear();
    }
    const dispute::Piece& piece = right->stated.piece;
    const std::uint32_t cols = at.model.program.step[piece.index].shape.cols;
    const std::uint64_t step = right->stated.statement.step;
    ScalarReplay forged(
        at.model.world, false, kSeed,
        {dispute::testing::flip(step, piece.index, std::uint64_t{piece.row} * cols + piece.col)}
    );
    contracts::Accuse action{
        .task = at.id,
        .member = at.accounts[accused].id,
        .signature = right->signature,
        .contradiction = dispute::make_contradiction(segment_of(at, truth), right->stated, forged)};
    if (asked) {
        action.answers = asked->dispute;
    }
    REQUIRE(at.chain.run(at.accounts[accuser], action) == 0);
    const DisputeId id = contracts::accusation_id(at.id, 1, action.member, at.accounts[accuser].id, action.answers);
    while (find_dispute(at.chain.view, id)->game()) {
        move(at, id, forged, truth, reveals);
    }
    REQUIRE(find_dispute(at.chain.view, id)->state() == contracts::DisputeState::kRefuted);
    return true;
}

bool is_over(const Members& at, const DisputeId& id) { return !find_dispute(at.chain.view, id)->game(); }

/// The accusation that a rank can make, or answer with; what it answers has the accuser's first move. nullopt if nobody
/// has misled it before what it is accused of.
std::optional<Answerable> accuse_first(
    Members& at, const GroupRun& run, std::uint32_t rank, const std::optional<Answerable>& asked, ScalarReplay& truth
) {
    const dispute::Claim segment = segment_of(at, truth);
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
    spec.training_blocks = 4'000;  // so that clocks run out before
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

bool accuse_falsely(
    Members& at, const GroupRun& run, std::uint32_t accuser, std::uint32_t accused, ScalarReplay& truth
) {
    return accuse_of_right(at, run, accuser, accused, std::nullopt, truth);
}

std::uint32_t answer(Members& at, const GroupRun& run, Answerable asked, ScalarReplay& truth, const Evasion& evasion) {
    for (std::uint32_t answers = 0;; ++answers) {
        if (is_over(at, asked.dispute)) {
            return answers;  // STM-5: nothing was left to dispute
        }
        if (evasion.silent.contains(asked.rank)) {
            std::vector<dispute::NodeReveal> reveals;
            if (asked.accused_of) {
                move(at, asked.dispute, truth, reveals);  // the accuser's, which is first
            }
            while (!is_over(at, asked.dispute)) {
                at.chain.skip(1);
            }
            return answers;
        }
        if (evasion.scapegoat && evasion.scapegoat != asked.rank &&
            accuse_of_right(at, run, asked.rank, *evasion.scapegoat, asked, truth)) {
            return answers + 1;
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
