// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/accuser.hpp>
#include <core/merkle/tree.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// A lead, and an accomplice that takes the blame.
namespace assay::liability {
namespace {

using contracts::Dispute;
using contracts::Role;
using contracts::Task;
using contracts::TaskState;
using contracts::test::kCoin;
using contracts::test::ToyReplay;
using model::Way;
using simulation::Kind;

/// The lead shows its states, and verifiers accept what is right; an accuser of its own disputes a right segment, or
/// verifiers one that is wrong. In answer the lead accuses its accomplice, which keeps silent. That takes the segment
/// (STM-10), and must take nothing from the verifiers.
class Scapegoat final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        without_accomplices(kinds);
        params.segments_checked = 2;
        params.segments_checked_max = 2;
    }

    void set_order(simulation::Order& order) override {
        order.in_tolerance = false;
        order.is_stacked = false;
        order.members = 2;
    }

    void act(const Stage& stage) override {
        if (!how_) {
            how_ = How{chance(70) ? 0 : static_cast<std::uint32_t>(1 + below(3)), chance(75), chance(50)};
        }
        member(0).bond(stage, Role::kSolver, 700 * kCoin);
        member(1).bond(stage, Role::kSolver, 150 * kCoin);
        member(2).bond(stage, Role::kWhistleblower, 60 * kCoin);
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (task && task->solver == member(0).id() && is_known(stage.shop, task->spec)) {
                solve(stage, *task);
                quarrel(stage, *state, *task);
            }
        }
    }

  private:
    struct How {
        std::uint32_t wrong = 0;  ///< the segment that it forges; 0: none
        bool plays = false;       ///< whether the lead moves in its own accusation
        bool shuffles = false;    ///< whether they change their seats while they train
    };

    Hash256 root_of(const Stage& stage, const Task& task, std::uint32_t index) const {
        Hash256 root = stage.shop.start(Way::kTruth);
        for (std::uint32_t segment = 1; segment <= index; ++segment) {
            root = stage.shop.after(
                segment == how_->wrong ? Way::kOtherSeed : Way::kTruth, root, contracts::first_step(task.spec, segment),
                contracts::step_count(task.spec, segment)
            );
        }
        return root;
    }

    void solve(const Stage& stage, const Task& task) {
        const std::uint32_t wanted = contracts::segment_count(task.spec) + 1;
        if (task.state == TaskState::kDrawn) {
            contracts::AcceptTask out{.task = task.id, .seats = {}, .signatures = {}};
            if (task.spec.members >= 2) {
                out.seats = {member(0).id(), member(1).id()};
                out.is_together = true;
                out.signatures = {member(1).sign_seats({.task = task.id, .seats = out.seats, .is_together = true})};
            }
            member(0).send_once(stage, out);
        } else if (task.state == TaskState::kTraining && task.checkpoints < wanted) {
            shuffle(stage, task);
            const std::uint32_t index = task.checkpoints;
            stage.bulletin.artifacts.try_emplace({task.id, index}, 0);
            member(0).send_once(stage, contracts::PostCheckpoint{task.id, index, root_of(stage, task, index), {}});
        } else if (task.state == TaskState::kTraining) {
            const Hash256 last = root_of(stage, task, wanted - 1);
            member(0).send_once(
                stage,
                contracts::CompleteTask{
                    task.id, task.spec.evaluation ? std::optional(stage.shop.evaluation(last)) : std::nullopt}
            );
        }
    }

    /// GRP-13, GRP-14: they demand of each other, and give their seats anew: it has to cost nobody else anything.
    void shuffle(const Stage& stage, const Task& task) {
        if (!task.group || !how_->shuffles || task.checkpoints == 0) {
            return;
        }
        const std::uint64_t way = below(4);
        if (way < 2) {
            member(way).send_once(stage, contracts::Demand{task.id, member(1 - way).id()});
        } else if (way == 2) {
            contracts::Reseat next{
                .task = task.id, .from = task.checkpoints + 1, .seats = {member(0).id()}, .signatures = {}};
            if (chance(50)) {
                next.seats.push_back(member(1).id());
                next.signatures = {
                    member(1).sign_seats({.task = task.id, .seats = next.seats, .is_together = true, .from = next.from}
                    )};
            }
            member(0).send_once(stage, next);
        }
    }

    void quarrel(const Stage& stage, const contracts::StateView& state, const Task& task) {
        if (!task.group || task.state < TaskState::kCompleted || task.state > TaskState::kChallenge) {
            return;
        }
        const std::uint32_t last = contracts::segment_count(task);
        if (task.state == TaskState::kChallenge && last > 1) {
            member(2).send_once(stage, contracts::OpenDispute{task.id, last, Role::kWhistleblower});
        }
        for (const contracts::NotedDispute& open : contracts::get_bookkeeping(state, task.id).disputes) {
            const Dispute dispute = contracts::find_dispute(state, open.id).value();
            if (dispute.responder != member(0).id() || dispute.verdict() || dispute.profile()) {
                continue;
            }
            if (!dispute.accusation()) {
                blame(stage, state, task, dispute);
            } else if (how_->plays && dispute.position.pending().empty() && dispute.position.rounds == 0) {
                ToyReplay replay(stage.shop.run(Way::kTruth), dispute.claim, stage.shop.state(dispute.claim.before));
                member(0).send_once(
                    stage,
                    contracts::RevealMove{open.id, 0, dispute::make_reveal(dispute.claim, dispute.position, replay)}
                );
            }
        }
    }

    /// What the accomplice says is wrong, so that the evidence is right; the segment may be right as well.
    void blame(const Stage& stage, const contracts::StateView& state, const Task& task, const Dispute& disputed) {
        if (disputed.segment == 0 || disputed.segment > contracts::segment_count(task.spec)) {
            return;
        }
        dispute::Claim claim = contracts::base_claim(task.spec, disputed.segment);
        claim.before = contracts::find_checkpoint(state, task.id, disputed.segment - 1)->state_root;
        ToyReplay replay(stage.shop.run(Way::kTruth), claim, stage.shop.state(claim.before));
        dispute::Piece piece;
        piece.rows = piece.cols = 1;
        piece.width = static_cast<std::uint8_t>(size_of(replay.node_output(claim.first_step, 0).dtype));
        piece.values = crypto::sha256(as_bytes("what nobody computes"));
        const Hash256 leaf = dispute::piece_leaf(piece);
        const dispute::StatedPiece stated{
            .statement =
                {.task = retag<Hash256>(task.id),
                 .before = claim.before,
                 .session = {},
                 .step = claim.first_step,
                 .pieces = 1,
                 .root = leaf},
            .piece = piece,
            .index = 0,
            .path = {}};
        member(0).send_once(
            stage,
            contracts::Accuse{
                task.id, member(1).id(), member(1).sign_statement(stated.statement),
                dispute::make_contradiction(claim, stated, replay), disputed.id}
        );
    }

    std::optional<How> how_;
};

}  // namespace

std::unique_ptr<Plan> make_scapegoat(std::uint64_t seed, std::vector<Member> members) {
    return std::make_unique<Scapegoat>(seed, std::move(members));
}

}  // namespace assay::liability
