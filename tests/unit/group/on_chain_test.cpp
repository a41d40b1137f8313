// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include <contracts/arbitration/arbitration.hpp>
#include <core/dispute/accuser.hpp>
#include <tests/unit/contracts/statements.hpp>
#include <tests/unit/group/group_runs.hpp>

/// The whole way, with ranks that really compute together and the chain's own rules: a rank signs something wrong, the
/// lead posts the state that comes of it, somebody disputes that, and members answer by what they were told until the
/// one pays who was first.

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;
using dispute::testing::ScalarReplay;
using group::testing::Doubles;
using group::testing::GroupRun;
using group::testing::Lie;
using group::testing::Model;

namespace {

constexpr std::uint32_t kSteps = 2;  // one segment
constexpr std::uint32_t kRanks = 4;
constexpr const char* kLayout = "dp2tp2";

/// Partners bond one after another, between the draw and the acceptance.
Params patient() {
    Params params = all_segments();
    params.accept_blocks = 50;
    return params;
}

/// A group of four accounts on a chain that trains the model, with a rank each.
struct Members {
    explicit Members(const Model& trained) : model(trained), chain(patient()) {
        chain.bond_all();
        TaskSpec spec = honest().spec();
        spec.program = model.world.commitment();
        spec.dataset_root = dispute::dataset_tree(*model.world.rows).root();
        spec.seed = group::testing::kSeed;
        spec.steps = kSteps;
        spec.checkpoint_interval = kSteps;
        id = start_group(chain, spec, kRanks - 1, true);
        accounts.push_back(chain.solver);
        accounts.insert(accounts.end(), chain.others.end() - (kRanks - 1), chain.others.end());
        bond = members_bond(chain);
    }
    GroupRun train(const Lie& lie) const {
        Doubles doubles;
        doubles.lie = lie;
        doubles.key = [this](std::uint32_t rank) { return accounts[rank].key; };
        group::Signers signers{.chain_id = kChainId, .task = retag<Hash256>(id), .accounts = {}};
        for (const Actor& each : accounts) {
            signers.accounts.push_back(each.id);
        }
        doubles.signers = signers;
        return run_group(model, *plan::decode_layout(kLayout, kRanks), kSteps, doubles);
    }
    /// Until the state that the run ended with is accepted by its verifiers, and disputed by somebody.
    DisputeId post_and_dispute(const Hash256& root) {
        const Hash256 before = dispute::testing::root_of(model.world.state);
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, 0, before, {}}) == 0);
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, 1, root, {}}) == 0);
        REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
        await_state(chain, id, TaskState::kVerifying);
        chain.commit_all(id);
        chain.publish_all(id);
        REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
        return dispute_id(id, 1, chain.whistleblower.id);
    }
    std::uint32_t rank_of(const AccountId& account) const {
        const auto found =
            std::find_if(accounts.begin(), accounts.end(), [&](const Actor& each) { return each.id == account; });
        return static_cast<std::uint32_t>(found - accounts.begin());
    }

    const Model& model;
    Chain chain;
    TaskId id;
    std::vector<Actor> accounts;  ///< by rank
    std::uint64_t bond = 0;
};

/// One move of whoever has to make it, by a true replay.
void move(Members& at, const DisputeId& id, ScalarReplay& replay, std::vector<dispute::NodeReveal>& reveals) {
    const Dispute dispute = find_dispute(at.chain.view, id).value();
    const Actor& responder = at.chain.actor_of(dispute.responder);
    const Actor& challenger = at.chain.actor_of(dispute.challenger);
    if (dispute.position.is_at_proof()) {
        const auto proof = dispute::make_proof(dispute.claim, dispute.position, replay, reveals);
        REQUIRE(at.chain.run(responder, ProveMove{id, proof}) == 0);
    } else if (dispute.position.pending().empty()) {
        const auto children = dispute::make_reveal(dispute.claim, dispute.position, replay);
        if (const auto first = dispute::first_node_of(dispute.position)) {
            reveals.push_back({*first, dispute::split(dispute.claim, dispute.position).child_height, children});
        }
        REQUIRE(at.chain.run(responder, RevealMove{id, dispute.position.rounds, children}) == 0);
    } else {
        const auto selection = dispute::make_selection(dispute.claim, dispute.position, replay);
        REQUIRE(at.chain.run(challenger, SelectMove{id, dispute.position.rounds, selection}) == 0);
    }
}

/// Everybody who has to answer does so by the first wrong thing that it was told, as long as there is one; the last one
/// plays. Returns how many have answered.
std::uint32_t answer(Members& at, const GroupRun& run, const DisputeId& disputed) {
    ScalarReplay replay(at.model.world, false, group::testing::kSeed);
    dispute::Claim segment = find_dispute(at.chain.view, disputed)->claim;
    DisputeId open = disputed;
    std::uint32_t rank = 0;
    std::optional<dispute::StatedOrder> accused_of;
    for (std::uint32_t answers = 0;; ++answers) {
        const auto wrong = group::find_first_wrong(*run.ledgers[rank], segment, replay);
        const auto told_at =
            wrong ? dispute::order_of(wrong->stated.statement.step, wrong->stated.piece) : dispute::StatedOrder{};
        std::vector<dispute::NodeReveal> reveals;
        if (!wrong || (accused_of && told_at >= *accused_of)) {  // nobody has misled it
            while (find_dispute(at.chain.view, open)->game()) {
                move(at, open, replay, reveals);
            }
            return answers;
        }
        if (open != disputed) {
            move(at, open, replay, reveals);  // the accuser's first
        }
        const Accuse accuse{
            .task = at.id,
            .member = at.accounts[wrong->author].id,
            .signature = wrong->signature,
            .contradiction = dispute::make_contradiction(segment, wrong->stated, replay),
            .answers = open};
        REQUIRE(at.chain.run(at.accounts[rank], accuse) == 0);
        open = accusation_id(at.id, 1, accuse.member, at.accounts[rank].id);
        rank = wrong->author;
        accused_of = told_at;
    }
}

}  // namespace

TEST_CASE("STM-9, STM-10: whoever signed the first wrong value pays for a disputed state, and nobody else") {
    const Model model = group::testing::small_mlp();
    ScalarReplay truth(model.world, false, group::testing::kSeed);
    std::map<std::uint32_t, std::uint32_t> chains;  // how many have answered: how often
    for (const Lie::Kind kind : {Lie::Kind::kValues, Lie::Kind::kPart}) {
        for (const std::uint32_t liar : {1U, 2U, 3U}) {
            for (std::uint32_t skipped = 0; skipped < 24; skipped += 3) {
                CAPTURE(static_cast<int>(kind));
                CAPTURE(liar);
                CAPTURE(skipped);
                Members at(model);
                const GroupRun run = at.train({.rank = liar, .step = 0, .kind = kind, .skipped = skipped, .byte = 2});
                REQUIRE(run.root.has_value());
                if (run.lies == 0 || *run.root == truth.state_root_after(kSteps - 1)) {
                    continue;  // what was rounded away, or ended in no parameter
                }
                const DisputeId disputed = at.post_and_dispute(*run.root);
                ++chains[answer(at, run, disputed)];
                CHECK(find_dispute(at.chain.view, disputed)->state() == DisputeState::kRefuted);
                const Task task = at.chain.task(at.id);
                CHECK(task.state == TaskState::kConvicted);
                CHECK(task.group->culprits == std::vector{static_cast<std::uint8_t>(liar)});
                for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
                    const Stake stake = at.chain.stake(Role::kSolver, at.accounts[rank]);
                    const std::uint64_t had = rank == 0 ? 100 * kCoin : at.bond;
                    CHECK(stake.locked.grains == 0);
                    CHECK(stake.free.grains == (rank == liar ? had - at.bond : had));
                }
                CHECK(at.chain.slashed(at.id, Reason::kWrongVerdict).empty());
                break;
            }
        }
    }
    CHECK(chains[1] > 0);
    CHECK(chains[2] > 0);  // somebody was misled, and has shown by whom
    for (const auto& [answers, times] : chains) {
        MESSAGE(times << " disputes with " << answers << " answers");
        CHECK(answers >= 1);
    }
}
