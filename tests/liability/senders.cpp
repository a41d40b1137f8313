// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <contracts/params/gas.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/params/work.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/ed25519.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// Plans whose means are the messages themselves: how many, how soon, whose.
namespace assay::liability {
namespace {

using contracts::Role;
using contracts::TaskSpec;
using contracts::TaskState;
using contracts::test::kCoin;
using simulation::Kind;

/// A task of a program that nobody has.
TaskSpec impossible_task(model::Workshop& shop, std::uint64_t number) {
    TaskSpec spec = shop.spec(false);
    spec.title = "impossible " + std::to_string(number);
    spec.steps = 10;
    spec.checkpoint_interval = 3;
    spec.training_blocks = 120;
    if (number % 3 == 0) {
        spec.program.step_work /= 2;  // of a program that nobody has (WRK-2)
    } else {
        spec.program.step_root = model::mix(spec.program.step_root, {}, number);
    }
    return spec;
}

Amount least_fee(const Stage& stage, const TaskSpec& spec) {
    const contracts::Params params = stage.node.state()->params();
    return contracts::fee_at(params, spec, params.work_price);
}

class Spammer final : public Plan {
  public:
    using Plan::Plan;

    /// One account gives all its money to the other behind fees that would pay for the whole queue.
    void act(const Stage& stage) override {
        Member& from = member(turn_ % 2);
        Member& to = member((turn_ + 1) % 2);
        const std::uint64_t balance = from.balance(stage);
        if (balance < kCoin || stage.node.next_nonce(from.id()) != nonce_of(stage, from.id())) {
            ++turn_;  // it has nothing, or something waits
            return;
        }
        const std::uint64_t followers = 2 + below(6);
        from.send(stage, contracts::Transfer{to.id(), {balance - Member::kFee}}, Member::kFee);
        for (std::uint64_t i = 0; i < followers; ++i) {
            from.send(stage, contracts::RegisterTerms{Role::kSolver, {}, i});
        }
    }

  private:
    static std::uint64_t nonce_of(const Stage& stage, const AccountId& id) {
        const auto person = stage.chain.world.people.find(id);
        return person == stage.chain.world.people.end() ? 0 : person->second.nonce;
    }
    std::size_t turn_ = 0;
};

/// Takes the free stake that verifiers would need to reject a cheat's work.
class Drafter : public Plan {
  public:
    using Plan::Plan;

    /// So that drafting takes a verifier's stake to the last grain: there is no seat to keep some of it. And so that a
    /// cheat is found by verifiers or by nobody: there are no whistleblowers.
    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        params.verifier_bond = {50 * kCoin};
        params.contributors_max = 0;
        without_accomplices(kinds);
        std::erase(kinds, Kind::kWhistleblower);
        kinds[1] = Kind::kCheat;
    }
    void set_order(simulation::Order& order) override { order.in_tolerance = false; }

    void act(const Stage& stage) override {
        const auto& tasks = stage.chain.world.tasks;
        const bool is_any_time = std::any_of(tasks.begin(), tasks.end(), [&](const auto& entry) {
            return entry.second.submitter != member(0).id() && is_time(entry.second);
        });
        if (!is_any_time && !chance(1)) {
            return;
        }
        // Few are enough: what waits in vain for profilers waits longer each time.
        auto drafting = std::count_if(tasks.begin(), tasks.end(), [&](const auto& entry) {
            const model::Task& task = entry.second;
            return task.submitter == member(0).id() && task.state == TaskState::kProfiling && task.draws == 0;
        });
        for (; drafting < kAtOnce && number_ < kTasks; ++drafting) {
            submit(stage);
        }
    }

  protected:
    /// Whether stake is worth taking now that a task of somebody else is where it is.
    virtual bool is_time(const model::Task& task) const { return task.state == TaskState::kVerifying; }

  private:
    void submit(const Stage& stage) {
        TaskSpec spec = impossible_task(stage.shop, ++number_);
        spec.mode = contracts::Mode::kTolerance;
        spec.distance = stage.shop.distance();
        spec.reward = {below(3) * kCoin / 10};
        const Amount least = least_fee(stage, spec);
        spec.verification_fee = Amount{least.grains + below(2) * kCoin / 10};
        member(0).send(stage, contracts::SubmitTask{spec});
    }

    static constexpr std::ptrdiff_t kAtOnce = 5;
    static constexpr std::uint64_t kTasks = 120;
    std::uint64_t number_ = 0;
};

/// Takes the free stake with which verifiers would be drawn for honest work, until that expires.
class Crowder final : public Drafter {
  public:
    using Drafter::Drafter;

    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        Drafter::set_scene(params, kinds);
        params.draw_blocks = 60;
        kinds[1] = Kind::kHonestSolver;
    }

  protected:
    bool is_time(const model::Task& task) const override {
        return task.state == TaskState::kTraining || (task.state == TaskState::kCompleted && task.duties.empty());
    }
};

class Squatter final : public Plan {
  public:
    using Plan::Plan;

    /// Registers whatever key somebody else is about to register, in the same block and for a higher fee.
    void act(const Stage& stage) override {
        if (below(2) == 0) {
            member(0).bond(stage, Role::kValidator, (1 + below(500)) * kCoin);
        }
        for (const Bytes& bytes : stage.node.waiting()) {
            const auto tx = codec::decode<contracts::Tx>(bytes);
            const auto* seen = tx ? std::get_if<contracts::RegisterValidator>(&tx->body.action) : nullptr;
            const bool is_ours = tx && (tx->body.sender == member(0).id() || tx->body.sender == member(1).id());
            if (seen != nullptr && !is_ours && tried_.insert(seen->key).second) {
                member(below(2)).send(stage, *seen, 4 * tx->body.fee.grains);
            }
        }
    }

  private:
    std::set<contracts::ConsensusKey> tried_;
};

class Waiter final : public Plan {
  public:
    using Plan::Plan;

    /// Rounds draw for few tasks at once, so that many waiting ones show.
    void set_scene(contracts::Params& params, std::vector<Kind>& /*kinds*/) override {
        params.end_block_gas_max = 6'000;
    }

    void act(const Stage& stage) override {
        for (std::uint64_t i = 0; number_ < kTasks && i < 8; ++i) {
            TaskSpec spec = impossible_task(stage.shop, ++number_);
            spec.reward = {};
            spec.verification_fee = least_fee(stage, spec);
            // For some there is no machine, others are declined by whoever is drawn.
            spec.hardware_class = static_cast<std::uint32_t>(below(3));
            if (number_ % 3 == 0) {
                spec.environment = contracts::Environment{.image = {}, .labels = {"nobody=offers"}};  // ENV-3
            }
            member(0).send(stage, contracts::SubmitTask{spec});
        }
    }

  private:
    static constexpr std::uint64_t kTasks = 60;
    std::uint64_t number_ = 0;
};

/// Fills every block while others owe something, at a price for a unit of gas that none of them offers.
class LaneFiller final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        without_accomplices(kinds);
        kinds[1] = below(2) == 0 ? Kind::kCheat : Kind::kHonestSolver;
        params.block_gas_max = static_cast<std::uint32_t>(2 * contracts::gas_max(params));  // so that it can
        params.duty_gas_max = params.block_gas_max / 2;
        params.duty_wait_blocks = 100;  // so that there is room for the tasks
    }

    void act(const Stage& stage) override {
        const auto& tasks = stage.chain.world.tasks;
        const bool is_time = std::any_of(tasks.begin(), tasks.end(), [](const auto& entry) {
            const model::Task& task = entry.second;
            return task.state == TaskState::kVerifying || task.state == TaskState::kDisclosure ||
                   !task.disputes.empty();
        });
        const contracts::Params& params = stage.node.state()->params();
        const std::uint64_t count = is_time ? params.block_gas_max / kGas + 1 : 0;
        for (std::uint64_t i = stage.node.waiting().size(); i < count; ++i) {
            Member& from = member(i % kMembers);
            if (from.balance(stage) > kCoin) {
                from.send(stage, contracts::Transfer{member(0).id(), {1}}, kPrice * kGas);
            }
        }
    }

  private:
    static constexpr std::uint64_t kGas = 108;  ///< of a transfer
    static constexpr std::uint64_t kPrice =
        60'000;  ///< simulated workers offer 20,000,000 for the 384 of an acceptance
};

}  // namespace

std::unique_ptr<Plan> make_sender(PlanKind kind, std::uint64_t seed, std::vector<Member> members) {
    switch (kind) {
        case PlanKind::kSpammer:
            return std::make_unique<Spammer>(seed, std::move(members));
        case PlanKind::kDrafter:
            return std::make_unique<Drafter>(seed, std::move(members));
        case PlanKind::kCrowder:
            return std::make_unique<Crowder>(seed, std::move(members));
        case PlanKind::kFiller:
            return std::make_unique<LaneFiller>(seed, std::move(members));
        case PlanKind::kSquatter:
            return std::make_unique<Squatter>(seed, std::move(members));
        default:
            return std::make_unique<Waiter>(seed, std::move(members));
    }
}

}  // namespace assay::liability
