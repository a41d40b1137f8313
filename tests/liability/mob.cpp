// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <core/dispute/player.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// Many who dispute what is right, all at once.
namespace assay::liability {
namespace {

using contracts::Dispute;
using contracts::Role;
using contracts::Task;
using contracts::TaskState;
using contracts::test::kCoin;
using model::Way;
using simulation::Kind;

/// Whistleblowers dispute all segments of a task that was trained rightly, each segment once, in one block. A solver
/// with one machine has to replay them all, and where replays are long its clocks are for little else.
class Mob final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        without_accomplices(kinds);
        params.dispute_clock_blocks = 16;  // a replay takes as long where machines are slow
    }

    bool has_slow_machines() const override { return true; }

    void set_order(simulation::Order& order) override {
        order.in_tolerance = false;
        order.is_stacked = false;
    }

    void act(const Stage& stage) override {
        for (std::size_t i = 0; i < kMembers; ++i) {
            member(i).bond(stage, Role::kWhistleblower, 90 * kCoin);
        }
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (task && !contracts::is_terminal(task->state) && is_known(stage.shop, task->spec)) {
                accuse(stage, *task);
                play(stage, *state, *task);
            }
        }
    }

  private:
    void accuse(const Stage& stage, const Task& task) {
        if (task.state != TaskState::kChallenge) {
            return;
        }
        for (std::uint32_t segment = 0; segment <= contracts::segment_count(task); ++segment) {
            member(segment % kMembers).send_once(stage, contracts::OpenDispute{task.id, segment, Role::kWhistleblower});
        }
        if (accused_.insert(task.id).second) {
            ++outcomes["a task was disputed in all segments"];
        }
    }

    void play(const Stage& stage, const contracts::StateView& state, const Task& task) {
        for (const contracts::NotedDispute& open : contracts::get_bookkeeping(state, task.id).disputes) {
            const Dispute dispute = contracts::find_dispute(state, open.id).value();
            for (std::size_t i = 0; i < kMembers; ++i) {
                const bool is_to_select = dispute.challenger == member(i).id() && !dispute.position.is_at_proof() &&
                                          !contracts::is_responders_turn(dispute);
                if (is_to_select) {
                    select(stage, dispute, member(i));
                }
            }
        }
    }

    /// As if the task had another seed: what it claims departs from the truth in every step.
    void select(const Stage& stage, const Dispute& dispute, Member& challenger) {
        model::Player& player = players_[dispute.id];
        if (!player.replay) {
            player = model::play_segment(stage.shop, dispute.claim, Way::kOtherSeed);
        }
        challenger.send_once(
            stage,
            contracts::SelectMove{
                dispute.id, dispute.position.rounds,
                dispute::make_selection(dispute.claim, dispute.position, *player.replay)}
        );
    }

    std::set<contracts::TaskId> accused_;
    std::map<contracts::DisputeId, model::Player> players_;
};

}  // namespace

std::unique_ptr<Plan> make_mob(std::uint64_t seed, std::vector<Member> members) {
    return std::make_unique<Mob>(seed, std::move(members));
}

}  // namespace assay::liability
