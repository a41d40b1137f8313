// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/tasks/seats.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/codec/borsh.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>
#include <core/dispute/evaluation.hpp>

/// Plans whose means are a role: a stake, duties, and what is said of them.
namespace assay::liability {
namespace {

using contracts::Assignment;
using contracts::Role;
using contracts::Task;
using contracts::TaskState;
using contracts::VerdictStatus;
using contracts::test::kCoin;
using model::Way;
using simulation::Kind;

class Liar final : public Plan {
  public:
    using Plan::Plan;

    void set_order(simulation::Order& order) override { order.in_tolerance = order.in_tolerance || chance(70); }

    void act(const Stage& stage) override {
        member(0).bond(stage, Role::kVerifier, 260 * kCoin);  // less than a quarter (AVL-5)
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (!task || contracts::is_terminal(task->state) || !is_known(stage.shop, task->spec)) {
                continue;
            }
            for (const Assignment& duty : task->assignments) {
                if (duty.verifier == member(0).id()) {
                    answer(stage, *state, *task, duty);
                }
            }
        }
    }

  private:
    enum class Lie : std::uint8_t { kDiverged, kOverstated, kOtherEnd, kNone };

    void answer(const Stage& stage, const contracts::StateView& state, const Task& task, const Assignment& duty) {
        const auto place = std::pair{task.id, duty.segment};
        if (duty.status == VerdictStatus::kDue) {
            if (!openings_.contains(place)) {
                if (auto made = make_opening(stage, state, task, duty)) {
                    openings_[place] = *made;
                }
            }
            if (openings_.contains(place)) {
                const Hash256 sealed =
                    contracts::verdict_commitment(task.id, duty.segment, duty.verifier, openings_[place]);
                member(0).send_once(stage, contracts::CommitVerdict{task.id, duty.segment, sealed});
            }
            return;
        }
        if (!openings_.contains(place)) {
            return;
        }
        const contracts::VerdictOpening& opening = openings_[place];
        if (duty.status == VerdictStatus::kCommitted && !task.lottery.is_zero()) {
            const std::uint32_t bps = stage.node.state()->params().forced_error_bps;
            const bool forced = contracts::is_forced(task, duty, opening, bps);
            contracts::PublishVerdict publish{
                task.id, duty.segment, contracts::published_verdict(task, duty, opening, forced)};
            if (opening.verdict.diverged_after) {
                publish.divergence = finite_tile(stage.shop, opening.verdict.end_root);
            }
            member(0).send_once(stage, publish);
        } else if (contracts::is_secret(duty)) {
            member(0).send_once(stage, contracts::DiscloseVerdict{task.id, duty.segment, opening});
        }
    }

    /// Nothing where what it is about is unknown: an attacker's checkpoints, say.
    std::optional<contracts::VerdictOpening> make_opening(
        const Stage& stage, const contracts::StateView& state, const Task& task, const Assignment& duty
    ) {
        const Hash256 claimed = contracts::claimed_root(state, task, duty.segment);
        contracts::VerdictOpening opening;
        opening.salt = model::mix(claimed, duty.verifier, duty.segment);
        opening.decoy_root = model::mix(opening.salt, duty.verifier, 1);
        if (contracts::is_exact(task, duty.segment)) {
            opening.verdict.end_root = claimed;
            add_marks(stage, state, task, duty, opening);
            return opening;
        }
        const Hash256 before = contracts::find_checkpoint(state, task.id, duty.segment - 1)->state_root;
        const Hash256 after = contracts::find_checkpoint(state, task.id, duty.segment)->state_root;
        const std::uint32_t steps = contracts::step_count(task, duty.segment);
        const std::uint64_t first = contracts::first_step(task.spec, duty.segment);
        const Hash256 replayed = stage.shop.after(Way::kTruth, before, first, steps);
        if (!stage.shop.knows(before) || !stage.shop.knows(after) || !stage.shop.knows(replayed)) {
            return std::nullopt;
        }
        const auto lie = static_cast<Lie>(below(4));
        if (lie == Lie::kDiverged) {
            const auto diverged_after = static_cast<std::uint32_t>(1 + below(steps));
            opening.verdict.end_root = stage.shop.after(Way::kTruth, before, first, diverged_after);
            opening.verdict.diverged_after = diverged_after;
            return opening;
        }
        opening.verdict.end_root =
            lie == Lie::kOtherEnd ? stage.shop.after(Way::kOtherSeed, before, first, steps) : replayed;
        opening.verdict.measurement =
            stage.gauge.measure({before, opening.verdict.end_root, after}, task.tolerance->sketch_seed);
        if (lie == Lie::kOverstated) {
            opening.verdict.measurement = simulation::overstated(*opening.verdict.measurement);
        }
        add_marks(stage, state, task, duty, opening);
        return opening;
    }

    static void add_marks(
        const Stage& stage, const contracts::StateView& state, const Task& task, const Assignment& duty,
        contracts::VerdictOpening& opening
    ) {
        for (const std::uint32_t mark : contracts::marks_of(task, duty)) {
            const Hash256 before = contracts::find_checkpoint(state, task.id, duty.segment - 1)->state_root;
            opening.marks.push_back(
                stage.shop.after(Way::kTruth, before, contracts::first_step(task.spec, duty.segment), mark)
            );
        }
    }

    static dispute::StateOpening finite_tile(const model::Workshop& shop, const Hash256& root) {
        return dispute::open_tile(shop.state(root), 0, 0);
    }

    std::map<std::pair<contracts::TaskId, std::uint32_t>, contracts::VerdictOpening> openings_;
};

class Withholder : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& /*params*/, std::vector<Kind>& kinds) override { without_accomplices(kinds); }

    void act(const Stage& stage) override {
        if (!how_) {
            how_ = How{.trains = chance(50), .serves_committees = chance(30)};
        }
        member(0).bond(stage, Role::kSolver, 700 * kCoin);
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (task && task->solver == member(0).id() && is_known(stage.shop, task->spec)) {
                solve(stage, *task);
                serve_committee(stage, *task);
            }
        }
    }

  protected:
    virtual contracts::AcceptTask acceptance(const Task& task) { return {task.id}; }
    /// Who posts the next checkpoint.
    virtual std::size_t poster(const Task& /*task*/) { return 0; }
    /// Whether it stops here, for good.
    virtual bool stops_at(std::uint32_t /*checkpoints*/) { return false; }

  private:
    struct How {
        bool trains = false;
        bool serves_committees = false;
    };

    /// Serves a committee what its members have to have, and nobody anything at other times.
    void serve_committee(const Stage& stage, const Task& task) const {
        if (!how_->serves_committees) {
            return;
        }
        std::erase_if(stage.bulletin.artifacts, [&](const auto& artifact) { return artifact.first.first == task.id; });
        for (const std::uint32_t segment :
             contracts::is_sitting(task) ? task.committee->segments : std::vector<std::uint32_t>{}) {
            stage.bulletin.artifacts.try_emplace({task.id, contracts::checkpoint_before(segment)}, 0);
            stage.bulletin.artifacts.try_emplace({task.id, std::min(segment, task.checkpoints - 1)}, 0);
        }
    }

    Hash256 root_of(const Stage& stage, const Task& task, std::uint32_t index) const {
        Hash256 root = stage.shop.start(Way::kTruth);
        for (std::uint32_t segment = 1; how_->trains && segment <= index; ++segment) {
            root = stage.shop.after(
                Way::kTruth, root, contracts::first_step(task.spec, segment), contracts::step_count(task.spec, segment)
            );
        }
        return root;
    }

    void solve(const Stage& stage, const Task& task) {
        const std::uint32_t wanted = contracts::segment_count(task.spec) + 1;
        if (task.state == TaskState::kDrawn) {
            member(0).send_once(stage, acceptance(task));
        } else if (task.state == TaskState::kTraining && stops_at(task.checkpoints)) {
            return;
        } else if (task.state == TaskState::kTraining && task.checkpoints < wanted) {
            const Hash256 root = root_of(stage, task, task.checkpoints);
            member(poster(task)).send_once(stage, contracts::PostCheckpoint{task.id, task.checkpoints, root, {}});
        } else if (task.state == TaskState::kTraining) {
            const Hash256 last = root_of(stage, task, wanted - 1);
            member(0).send_once(
                stage,
                contracts::CompleteTask{
                    task.id, task.spec.evaluation ? std::optional(stage.shop.evaluation(last)) : std::nullopt}
            );
        }
    }

    std::optional<How> how_;
};

class Syndicate final : public Withholder {
  public:
    using Withholder::Withholder;

    /// Few segments are checked at a time, so that something is often left before them (GRP-7). One would be too few:
    /// the initialisation needs nobody's state.
    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        Withholder::set_scene(params, kinds);
        params.segments_checked = 2;
        params.segments_checked_max = 2;
    }

    void set_order(simulation::Order& order) override {
        order.in_tolerance = false;
        order.is_stacked = false;
        order.members = static_cast<std::uint8_t>(2 + below(2));
    }

    void act(const Stage& stage) override {
        if (seats_ == 0) {
            seats_ = 2 + below(2);
            stop_ = chance(40) ? 1 + below(4) : ~std::uint64_t{0};
        }
        member(1).bond(stage, Role::kSolver, 150 * kCoin);
        member(2).bond(stage, Role::kSolver, 150 * kCoin);
        Withholder::act(stage);
    }

  protected:
    contracts::AcceptTask acceptance(const Task& task) override {
        contracts::AcceptTask out{.task = task.id, .seats = {}, .signatures = {}};
        for (std::size_t i = 0; i < std::min<std::size_t>(seats_, task.spec.members); ++i) {
            out.seats.push_back(member(i).id());
        }
        if (out.seats.size() < 2) {
            return {task.id};
        }
        for (std::size_t i = 1; i < out.seats.size(); ++i) {
            out.signatures.push_back(
                member(i).sign_seats({.task = out.task, .seats = out.seats, .is_together = out.is_together})
            );
        }
        return out;
    }

    std::size_t poster(const Task& task) override {
        const AccountId owner = contracts::owner_of(task, task.checkpoints);
        std::size_t place = 0;
        while (place + 1 < members().size() && member(place).id() != owner) {
            ++place;
        }
        return place;
    }

    bool stops_at(std::uint32_t checkpoints) override { return checkpoints >= stop_; }

  private:
    std::uint64_t seats_ = 0;
    std::uint64_t stop_ = 0;
};

class Bait final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& /*params*/, std::vector<Kind>& kinds) override { without_accomplices(kinds); }

    /// Tasks that a solver takes, and that it cannot finish if anything happens to it.
    void act(const Stage& stage) override {
        if (number_ >= kTasks || stage.node.height() < 8 + 10 * number_) {
            return;
        }
        contracts::TaskSpec spec = stage.shop.spec(false);
        spec.title = "bait " + std::to_string(++number_);
        spec.steps = 10;
        spec.checkpoint_interval = static_cast<std::uint32_t>(2 + below(4));
        spec.reward = {(1 + below(5)) * kCoin};
        spec.verification_fee = {kCoin};
        const contracts::Params params = stage.node.state()->params();
        const std::uint64_t worked = simulation::work_ms(params, spec, simulation::training_work(spec), 1);
        // As an honest solver counts whose messages take up to three blocks: with less it declines.
        const std::uint64_t needed = 5 * (std::uint64_t{contracts::segment_count(spec)} + 2) + 10 + worked;
        spec.training_blocks = static_cast<std::uint32_t>((3 * needed + 1) / 2);
        member(0).send(stage, contracts::SubmitTask{spec});
    }

  private:
    static constexpr std::uint64_t kTasks = 5;
    std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Plan> make_swindler(PlanKind kind, std::uint64_t seed, std::vector<Member> members) {
    switch (kind) {
        case PlanKind::kLiar:
            return std::make_unique<Liar>(seed, std::move(members));
        case PlanKind::kWithholder:
            return std::make_unique<Withholder>(seed, std::move(members));
        case PlanKind::kSyndicate:
            return std::make_unique<Syndicate>(seed, std::move(members));
        default:
            return std::make_unique<Bait>(seed, std::move(members));
    }
}

}  // namespace assay::liability
