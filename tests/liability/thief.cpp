// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/codec/borsh.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// Somebody has stolen an operator's key.
namespace assay::liability {
namespace {

using contracts::Assignment;
using contracts::Role;
using contracts::Task;
using contracts::TaskState;
using contracts::VerdictStatus;
using contracts::test::kCoin;
using simulation::Broken;

constexpr std::array kDutiesOf{Role::kSolver, Role::kVerifier, Role::kWhistleblower};

/// What an owner has, in grains.
struct Wealth {
    std::uint64_t balance = 0;
    std::uint64_t free = 0;      ///< stake in the roles whose duties an operator does
    std::uint64_t locked = 0;    ///< likewise
    std::uint64_t released = 0;  ///< what is unbonding in any role
    std::uint64_t validator = 0;

    std::uint64_t sum() const { return balance + free + locked + released + validator; }
};

/// An owner names an operator, whose key a thief has: it takes on every duty that it can, and does each as badly as it
/// can. After a while the owner names another one and unbonds what is free. The plan holds the chain to what
/// docs/protocol/operators.md promises to owners.
class Thief final : public Plan {
  public:
    Thief(std::uint64_t seed, std::vector<Member> members)
        : Plan(seed, std::move(members)),
          stolen_for_(60 + below(160)),
          trains_(chance(50)),
          shows_(chance(50)),
          forges_(chance(50)) {}

    void set_scene(contracts::Params& /*params*/, std::vector<simulation::Kind>& kinds) override {
        without_accomplices(kinds);
    }
    void set_order(simulation::Order& order) override { order.in_tolerance = false; }

    void act(const Stage& stage) override {
        if (!named_at_) {
            prepare(stage);
            return;
        }
        try_what_only_owners_may(stage);
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (task && is_known(stage.shop, task->spec)) {
                solve(stage, *task);
                verify(stage, *state, *task);
                accuse(stage, *task);
            }
        }
        enter_beacon(stage);
        if (stage.node.height() >= *named_at_ + stolen_for_) {
            reply(stage);
        }
    }

    void see_block(const model::World& world, const std::vector<Bytes>& txs, const contracts::BlockOutcome& outcome)
        override {
        const Wealth now = wealth_of(world);
        std::uint64_t spent = 0;
        for (std::size_t i = 0; i < txs.size(); ++i) {
            spent += see_receipt(txs[i], outcome.receipts[i]);
        }
        for (const contracts::HistoryRecord& record : outcome.history) {
            const auto* slashed = std::get_if<contracts::history::Slashed>(&record.event);
            if (slashed != nullptr && slashed->from == owner().id()) {
                ++outcomes[std::string("the owner lost a bond for ") + contracts::to_string(slashed->reason)];
            }
        }
        if (named_at_) {
            judge(now, spent);
        }
        before_ = now;
    }

  private:
    Member& thief() { return member(0); }
    Member& owner() { return member(1); }

    Wealth wealth_of(const model::World& world) {
        Wealth out;
        const auto person = world.people.find(owner().id());
        out.balance = person == world.people.end() ? 0 : person->second.balance;
        for (const auto& [key, stake] : world.stakes) {
            if (key.second != owner().id()) {
                continue;
            }
            for (const model::Part& part : stake.parts) {
                out.released += part.amount;
            }
            if (key.first == Role::kValidator) {
                out.validator = stake.free + stake.locked;
            } else {
                out.free += stake.free;
                out.locked += stake.locked;
            }
        }
        return out;
    }

    /// Counts what the thief has had executed. Returns the fee, if it is the owner's.
    std::uint64_t see_receipt(const Bytes& bytes, const contracts::Receipt& receipt) {
        const auto tx = codec::decode<contracts::Tx>(bytes);
        if (!tx) {
            return 0;
        }
        if (receipt.code == 0 && receipt.sender == owner().id()) {
            if (const auto* named = std::get_if<contracts::NameOperator>(&tx->body.action)) {
                is_named_ = named->account == thief().id();
            }
        }
        if (receipt.code == 0 && receipt.sender == thief().id() && receipt.owner) {
            if (!is_named_) {
                throw Broken("OPR-5: " + receipt.action + " of a key that the owner has replaced was executed");
            }
            ++outcomes["the thief: " + receipt.action];
        }
        if (receipt.sender != owner().id() || !receipt.is_charged) {
            return 0;
        }
        return tx->body.fee.grains;
    }

    /// What a block took from the owner: nothing but its own fees, and bonds that duties had locked.
    void judge(const Wealth& now, std::uint64_t spent) {
        if (now.balance + spent < before_.balance) {
            throw Broken("OPR-3: an operator's key took something from its owner's balance");
        }
        if (now.validator < before_.validator) {
            throw Broken("OPR-3: an operator's key cost its owner stake as a validator");
        }
        if (now.sum() + spent + before_.locked < before_.sum()) {
            throw Broken("OPR-3: an operator's key cost its owner more than what its duties had locked");
        }
        if (is_named_) {
            return;
        }
        if (!after_reply_ && now.free == 0) {
            after_reply_ = now;
            ++outcomes["the owner has replied"];
        } else if (after_reply_) {
            spent_since_ += spent;
            if (now.sum() + spent_since_ + after_reply_->locked < after_reply_->sum()) {
                throw Broken("OPR-5: after the owner's reply more was lost than what duties had locked by then");
            }
        }
    }

    void prepare(const Stage& stage) {
        owner().bond(stage, Role::kSolver, 450 * kCoin);
        owner().bond(stage, Role::kVerifier, 250 * kCoin);  // less than a quarter (AVL-5)
        owner().bond(stage, Role::kWhistleblower, 60 * kCoin);
        owner().bond(stage, Role::kValidator, 100 * kCoin);
        const auto& stakes = stage.chain.world.stakes;
        const auto bonded = std::count_if(stakes.begin(), stakes.end(), [&](const auto& entry) {
            return entry.first.second == owner().id();
        });
        if (bonded == 4) {
            owner().send_once(stage, contracts::NameOperator{thief().id()});
        }
        if (is_named_) {
            named_at_ = stage.node.height();
        }
    }

    bool steal(const Stage& stage, const contracts::Action& action) {
        return thief().send_once(stage, action, owner().id());
    }

    void try_what_only_owners_may(const Stage& stage) {
        const AccountId self = thief().id();
        const std::vector<contracts::Action> forbidden{
            contracts::Transfer{self, {kCoin}},
            contracts::Unbond{Role::kVerifier, {kCoin}},
            contracts::Bond{Role::kSolver, {kCoin}},
            contracts::NameOperator{self},
            contracts::ProposeHalt{},
            contracts::SubmitTask{stage.shop.spec(false)},
            contracts::Unjail{}};
        const contracts::Action& action = forbidden[below(forbidden.size())];
        if (thief().send(stage, action, Member::kFee, owner().id())) {
            throw Broken(std::string("OPR-3: a mempool took ") + contracts::action_name(action) + " of an operator");
        }
    }

    void solve(const Stage& stage, const Task& task) {
        if (task.solver != owner().id()) {
            return;
        }
        const std::uint32_t wanted = contracts::segment_count(task.spec) + 1;
        if (task.state == TaskState::kDrawn) {
            if (chance(80)) {
                steal(stage, contracts::AcceptTask{task.id, {}, {}});
            }
        } else if (task.state == TaskState::kTraining && trains_ && task.checkpoints < wanted) {
            if (shows_) {
                stage.bulletin.artifacts.try_emplace({task.id, task.checkpoints}, 0);
            }
            steal(stage, contracts::PostCheckpoint{task.id, task.checkpoints, root_of(stage, task), {}});
        } else if (task.state == TaskState::kTraining && trains_) {
            const auto last = contracts::find_checkpoint(*stage.node.state(), task.id, wanted - 1)->state_root;
            steal(
                stage,
                contracts::CompleteTask{
                    task.id, task.spec.evaluation ? std::optional(stage.shop.evaluation(last)) : std::nullopt}
            );
        }
    }

    /// The states are those of another seed.
    Hash256 root_of(const Stage& stage, const Task& task) const {
        Hash256 root = stage.shop.start(model::Way::kTruth);
        for (std::uint32_t segment = 1; segment <= task.checkpoints; ++segment) {
            root = stage.shop.after(
                model::Way::kOtherSeed, root, contracts::first_step(task.spec, segment),
                contracts::step_count(task.spec, segment)
            );
        }
        return root;
    }

    void verify(const Stage& stage, const contracts::StateView& state, const Task& task) {
        if (contracts::is_terminal(task.state)) {
            return;
        }
        for (const Assignment& duty : task.assignments) {
            if (duty.verifier == owner().id()) {
                answer(stage, state, task, duty);
            }
        }
    }

    /// A verdict that contradicts whatever is claimed, or none.
    void answer(const Stage& stage, const contracts::StateView& state, const Task& task, const Assignment& duty) {
        contracts::VerdictOpening opening;
        const Hash256 claimed = contracts::claimed_root(state, task, duty.segment);
        opening.salt = model::mix(claimed, duty.verifier, duty.segment);
        opening.decoy_root = model::mix(opening.salt, duty.verifier, 1);
        opening.verdict.end_root = forges_ ? model::mix(opening.salt, duty.verifier, 2) : claimed;
        if (!task.spec.checks.empty()) {
            opening.verdict.failed_checks = 0;  // CHK-3
        }
        for (const std::uint32_t mark : contracts::marks_of(task, duty)) {
            opening.marks.push_back(model::mix(opening.salt, duty.verifier, 3 + mark));
        }
        if (duty.status == VerdictStatus::kDue) {
            const Hash256 sealed = contracts::verdict_commitment(task.id, duty.segment, duty.verifier, opening);
            steal(stage, contracts::CommitVerdict{task.id, duty.segment, sealed});
        } else if (duty.status == VerdictStatus::kCommitted && !task.lottery.is_zero()) {
            const std::uint32_t bps = stage.node.state()->params().forced_error_bps;
            const bool forced = contracts::is_forced(task, duty, opening, bps);
            steal(
                stage,
                contracts::PublishVerdict{
                    task.id, duty.segment, contracts::published_verdict(task, duty, opening, forced)}
            );
        } else if (contracts::is_secret(duty)) {
            steal(stage, contracts::DiscloseVerdict{task.id, duty.segment, opening});
        }
    }

    /// Disputes a segment, whatever it is, and then is silent.
    void accuse(const Stage& stage, const Task& task) {
        if (task.state == TaskState::kChallenge && task.solver != owner().id()) {
            steal(stage, contracts::OpenDispute{task.id, 1, Role::kWhistleblower});
        }
    }

    /// Takes a seat and keeps its secret.
    void enter_beacon(const Stage& stage) {
        const auto& seats = stage.chain.world.beacon.seats;
        if (!seats.contains(owner().id())) {
            steal(stage, contracts::JoinBeacon{model::mix({}, owner().id(), below(1'000))});
        }
        steal(stage, contracts::RegisterTerms{Role::kVerifier, {}, below(3)});
    }

    /// For the owner's own fee: the thief can do nothing more, and what no duty has locked is out of draws.
    void reply(const Stage& stage) {
        if (is_named_) {
            owner().send_once(stage, contracts::NameOperator{});
        }
        for (const Role role : kDutiesOf) {
            const auto stake = stage.chain.world.stakes.find({role, owner().id()});
            if (stake != stage.chain.world.stakes.end() && stake->second.free != 0) {
                owner().send_once(stage, contracts::Unbond{role, {stake->second.free}});
            }
        }
    }

    const std::uint64_t stolen_for_;  ///< blocks
    const bool trains_;               ///< else it accepts tasks and lets them lapse
    const bool shows_;
    const bool forges_;  ///< verdicts; else it accepts what it has not replayed
    bool is_named_ = false;
    std::optional<std::uint64_t> named_at_;
    Wealth before_;
    std::optional<Wealth> after_reply_;
    std::uint64_t spent_since_ = 0;
};

}  // namespace

std::unique_ptr<Plan> make_thief(std::uint64_t seed, std::vector<Member> members) {
    return std::make_unique<Thief>(seed, std::move(members));
}

}  // namespace assay::liability
