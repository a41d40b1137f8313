// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/arena.hpp>

#include <algorithm>
#include <memory>
#include <sstream>

#include <core/codec/borsh.hpp>
#include <tests/liability/attacker.hpp>
#include <tests/liability/dues.hpp>
#include <tests/liability/fork.hpp>
#include <tests/liability/judge.hpp>
#include <tests/liability/scene.hpp>
#include <tests/simulation/worker.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::liability {
namespace {

using contracts::test::kCoin;
using simulation::Broken;
using simulation::Kind;
using simulation::Replica;
using simulation::Worker;

constexpr std::uint64_t kPatienceBlocks = 3'000;  ///< after the attack, within which everything has to have ended
constexpr std::uint64_t kLatencyMs = 3'000;       ///< of honest messages, with blocks of a second
constexpr std::uint64_t kStallMs = 18'000;
constexpr std::uint64_t kHaltMs = 20'000;  ///< so long operators take until the chain goes on
constexpr std::uint64_t kOutageBlocks = 150;
constexpr std::uint64_t kForkLatencyMs = 4'000;  ///< the same in continuations
constexpr std::uint64_t kFeeMax = 100'000'000;   ///< of an honest account's bids there, which is the worker's default
constexpr std::uint64_t kForkBlocks = 600;       ///< so long a continuation lasts at most
constexpr std::uint64_t kLastBlocks = 2;         ///< before a clock runs out, when attackers move at the last moment
constexpr std::uint64_t kAttackersStream = 1'000;
constexpr std::uint64_t kSlowSeeds = 5;    ///< in one seed of so many replays take long
constexpr std::uint64_t kSlowBlocks = 16;  ///< and so long at most

class Arena {
  public:
    Arena(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, const Options& options)
        : shop_(shop),
          events_(seed),
          seed_(seed),
          gauge_(shop),
          options_(options),
          plan_kind_(options.plan.value_or(plan_of(seed))),
          plan_(make_plan(plan_kind_, seed, make_members("arena-1"))),
          genesis_(prepare()),
          judge_(genesis_),
          attacker_(seed, genesis_),
          staller_(make_accusers(genesis_.chain_id)),
          filler_(keys_of_attackers(kinds_), genesis_.chain_id),
          candidate_(key_of(kCandidate), genesis_.chain_id) {
        for (int i = 0; i < kAttackers; ++i) {
            attacker_.add_account(key_of(kFirstAttacker + i));
        }
        chain_.on_block = [this](const solo::Block& block) { on_block(block); };
        replicas_.push_back(std::make_unique<Replica>(events_, chain_, genesis_, 0, home / "node", replicas_));
        Replica& node = *replicas_.front();
        node.in_memory = true;
        node.on_transaction = [this](const Bytes& tx) {
            attacker_.see_transaction(tx);
            if (continuation_ == Continuation::kFullBlocks) {
                filler_.see_transaction(stage(), tx);
            }
        };
        // In runs of one seed the same, whatever is in the blocks: so draws agree as long as rounds do.
        node.hash_at = [seed](Height height) {
            return model::mix({}, key_of(0).account(), seed * 1'000'000 + height.value);
        };
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            add_worker(static_cast<int>(i), kinds_[i]);
        }
        judge_.ledger.honest.insert(candidate_.id());
        judge_.names[candidate_.id()] = "candidate";
        plan_tasks();
    }

    Report run() {
        try {
            start();
            while (continuation_ ? is_owed(owed_) && chain_.height() < options_.fork_at->first + kForkBlocks
                                 : !is_done()) {
                if (chain_.height() > options_.planned_blocks + kPatienceBlocks) {
                    throw Broken("law 3: something is open for ever: " + describe_open());
                }
                step();
                if (is_fork_due_) {
                    is_fork_due_ = false;
                    play_forks();
                }
            }
            if (!continuation_ && !judge_.chain().world.validators.contains(candidate_.id())) {
                throw Broken("law 1: the candidate could not register as a validator");
            }
            if (!continuation_) {
                report_.balance = judge_.judge_rest(shop_);
            }
        } catch (const Broken& broken) {
            report_.broken = broken.what();
        }
        for (const auto& [id, task] : judge_.chain().world.tasks) {
            ++report_.outcomes["task: " + judge_.end_of(task)];
        }
        if (plan_) {
            report_.outcomes.insert(plan_->outcomes.begin(), plan_->outcomes.end());
        }
        report_.blocks = chain_.height();
        return report_;
    }

  private:
    void step() {
        if (!events_.step()) {
            throw Broken("nothing happens any more");
        }
    }

    // --- continuations ---

    /// Whether the honest replies are played from the last block on.
    bool is_worth_a_fork(const std::set<Due>& before) {
        const auto is_new = [&](const Due& due) { return !before.contains(due); };
        const auto has_new_of = [&](Due::Kind kind) {
            return std::any_of(dues_.begin(), dues_.end(), [&](const Due& due) {
                return due.kind == kind && is_new(due);
            });
        };
        if (options_.fork_at || !options_.attacks || continuation_ || options_.forks == Forks::kNone) {
            return false;
        }
        if (options_.forks == Forks::kEvery) {
            return !dues_.empty();
        }
        const bool has_new = std::any_of(dues_.begin(), dues_.end(), is_new);
        if (options_.forks == Forks::kNew || !has_new) {
            return has_new;
        }
        // A coin of its own, so that nothing in the run depends on it.
        constexpr std::uint64_t kFewOf = 2;
        const std::uint64_t number = seed_ * 1'000'003 + chain_.height();
        if (model::mix({}, key_of(0).account(), number).data[0] % kFewOf != 0) {
            return false;
        }
        for (const Due::Kind kind :
             {Due::Kind::kDispute, Due::Kind::kVerdict, Due::Kind::kProfile, Due::Kind::kTraining}) {
            if (has_new_of(kind) && forks_left_[kind] > 0) {
                --forks_left_[kind];
                forked_for_ = kind;
                return true;
            }
        }
        return false;
    }

    void play_forks() {
        for (const Continuation continuation : kContinuations) {
            const bool is_picked =
                static_cast<std::uint64_t>(continuation) == chain_.height() % std::size(kContinuations);
            if (options_.forks == Forks::kFew && is_picked == (forked_for_ == Due::Kind::kDispute)) {
                continue;
            }
            std::istringstream answer(in_copy([&] { return go_on(continuation); }));
            std::uint64_t blocks = 0;
            bool is_unfinished = false;
            std::string broken;
            answer >> blocks >> is_unfinished >> std::ws;
            std::getline(answer, broken);
            ++report_.forks;
            report_.fork_blocks += blocks;
            report_.unfinished += is_unfinished ? 1 : 0;
            if (!broken.empty()) {
                throw Broken(broken);
            }
        }
    }

    /// In a copy: its number of blocks, whether anything was still owed at the end, and what law does not hold.
    std::string go_on(Continuation continuation) {
        const std::uint64_t from = chain_.height();
        std::ostringstream answer;
        std::string broken;
        enter(continuation);
        try {
            while (is_owed(owed_) && chain_.height() < from + kForkBlocks) {
                step();
            }
        } catch (const std::exception& error) {
            const std::string plan = options_.plan ? std::string("--plan ") + to_string(plan_kind_) + " " : "";
            broken = error.what() + (", in a continuation: " + plan + "--fork ") + std::to_string(seed_) + " " +
                     std::to_string(from) + " " + to_string(continuation);
        }
        answer << chain_.height() - from << ' ' << is_owed(owed_) << ' ' << broken;
        return answer.str();
    }

    bool is_owed(const std::set<Due>& owed) const {
        return std::any_of(dues_.begin(), dues_.end(), [&](const Due& due) {
            return owed.contains(due) || due.kind == Due::Kind::kDispute;
        });
    }

    void enter(Continuation continuation) {
        continuation_ = continuation;
        owed_ = dues_;
        if (continuation == Continuation::kFullBlocks) {
            replicas_.front()->block_bytes = Filler::kBlockBytes;
        }
        for (const auto& worker : workers_) {
            if (simulation::is_honest(worker->kind())) {
                worker->latency_ms = kForkLatencyMs;
                worker->fee_max = kFeeMax;
            } else {
                worker->latency_ms = 1;
                worker->is_down = true;
            }
        }
    }

    void attack_in_continuation(const Stage& stage) {
        const bool acts = continuation_ == Continuation::kLastMoment &&
                          is_last_moment(judge_.chain().world, chain_.height(), kLastBlocks);
        for (const auto& worker : workers_) {
            worker->is_down = simulation::is_honest(worker->kind()) ? worker->is_down : !acts;
        }
        if (continuation_ == Continuation::kFullBlocks) {
            filler_.act(stage);
        } else if (acts) {
            staller_.act(stage, judge_.ledger.honest);
            if (plan_) {
                plan_->act(stage);
            }
            attacker_.act(*replicas_.front(), judge_.chain());
        }
    }

    // --- the run ---

    contracts::Genesis prepare() {
        kinds_ = choose_kinds(events_);
        contracts::Params params = make_params(events_);
        if (seed_ % kSlowSeeds == 0 || (plan_ && plan_->has_slow_machines())) {
            make_slow(params, shop_, kSlowBlocks);
        }
        if (is_dear()) {
            make_dear(params);
        }
        if (plan_) {
            plan_->set_scene(params, kinds_);
        }
        return make_genesis(params, kinds_.size());
    }

    void add_worker(int number, Kind kind) {
        const auto key = key_of(number);
        workers_.push_back(std::make_unique<Worker>(
            events_, bulletin_, shop_, gauge_, chain_, 1 + number, kind, key, replicas_, genesis_.chain_id
        ));
        workers_.back()->latency_ms = kLatencyMs;
        workers_.back()->bonded = is_dear() ? kDearStake : workers_.back()->bonded;
        workers_.back()->takes_time = simulation::is_honest(kind);
        if (simulation::is_honest(kind)) {
            judge_.ledger.honest.insert(key.account());
        } else {
            workers_.back()->is_down = !options_.attacks;
        }
        judge_.names[key.account()] = to_string(kind);
    }

    void plan_tasks() {
        auto& orders = workers_.front()->orders;
        orders.resize(2 + events_.below(2));
        for (simulation::Order& order : orders) {
            order.in_tolerance = events_.chance(40);
            order.worth = is_dear() ? kDear : 1;
            if (plan_) {
                plan_->set_order(order);
            }
        }
    }

    void start() {
        std::uint64_t stream = 0;
        events_.enter_stream(stream);
        replicas_.front()->start();
        for (const auto& worker : workers_) {
            events_.enter_stream(++stream);
            worker->start();
        }
        events_.enter_stream(++stream);
        stand();
        events_.enter_stream(kAttackersStream);
        attack();
    }

    /// The attackers act twice a block, see every transaction at once, and go first.
    void attack() {
        Replica& node = *replicas_.front();
        if (node.is_up()) {
            const Stage stage = this->stage();
            if (continuation_) {
                attack_in_continuation(stage);
            } else if (options_.attacks && acts_blindly() && chain_.height() < options_.active_blocks) {
                attacker_.act(node, judge_.chain());
            }
            if (!continuation_ && options_.attacks && plan_ && chain_.height() < options_.planned_blocks) {
                plan_->act(stage);
            }
            judge_.judge_waiting(node.waiting(), *node.state());
            have_outage();
            stall();
            if (node.go_on_after(kHaltMs)) {
                ++report_.outcomes["went on after a halt"];
            }
        }
        events_.after(500, [this] { attack(); });
    }

    Stage stage() { return {*replicas_.front(), judge_.chain(), bulletin_, shop_, gauge_}; }

    bool is_dear() const { return seed_ % kDearSeeds == 1; }

    /// Half of the runs with a plan have it alone.
    bool acts_blindly() const { return plan_kind_ == PlanKind::kNone || (seed_ / (2 * (kSeedPlans - 1))) % 2 == 1; }

    /// An honest account that becomes a validator.
    void stand() {
        if (replicas_.front()->is_up() && chain_.height() > 0) {
            const Stage stage = this->stage();
            const auto& world = judge_.chain().world;
            candidate_.bond(stage, contracts::Role::kValidator, 500 * kCoin);
            if (world.stakes.contains({contracts::Role::kValidator, candidate_.id()}) &&
                !world.validators.contains(candidate_.id())) {
                candidate_.register_validator(stage, 7);
            }
        }
        events_.after(1 + events_.below(kLatencyMs), [this] { stand(); });
    }

    /// The drafters' cheats take their time in disputes, so that verdicts fall due meanwhile.
    void stall() {
        if (continuation_) {
            return;
        }
        for (const auto& worker : workers_) {
            if (plan_kind_ == PlanKind::kDrafter && !simulation::is_honest(worker->kind())) {
                worker->latency_ms = is_disputed(worker->id()) ? kStallMs : kLatencyMs;
            }
        }
    }

    bool is_disputed(const AccountId& responder) const {
        const auto& disputes = judge_.chain().world.disputes;
        return std::any_of(disputes.begin(), disputes.end(), [&](const auto& entry) {
            return entry.second.responder == responder && contracts::is_open(entry.second.state);
        });
    }

    /// Where there is bait, the first solver who took it stops for a while.
    void have_outage() {
        if (plan_kind_ != PlanKind::kBait) {
            return;
        }
        for (const auto& worker : workers_) {
            if (worker->kind() == Kind::kHonestSolver && away_until_ == 0 && is_training_bait(worker->id())) {
                away_until_ = chain_.height() + kOutageBlocks;
                worker->is_down = true;
                judge_.ledger.away.insert(worker->id());
            } else if (judge_.ledger.away.contains(worker->id())) {
                worker->is_down = chain_.height() < away_until_;
            }
        }
    }

    bool is_training_bait(const AccountId& solver) const {
        const auto& tasks = judge_.chain().world.tasks;
        return std::any_of(tasks.begin(), tasks.end(), [&](const auto& entry) {
            const model::Task& task = entry.second;
            return task.state == contracts::TaskState::kTraining && task.solver == solver &&
                   task.submitter == plan_->members().front().id();
        });
    }

    void on_block(const solo::Block& block) {
        const auto request = replicas_.front()->request_of(block);
        const contracts::BlockOutcome outcome = judge_.execute(request);
        for (const contracts::Receipt& receipt : outcome.receipts) {
            note_receipt(receipt);
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            note_event(entry);
        }
        note_reveals(outcome.disputes);
        if (plan_) {
            plan_->see_block(judge_.chain().world, request.txs, outcome);
        }
        if (options_.trace) {
            judge_.tell(request.height, outcome);
        }
        const std::set<Due> before = std::exchange(dues_, find_dues(judge_.chain().world, judge_.ledger.honest));
        judge_.judge_block(outcome);
        if (const std::string passed = judge_.what_passed(); !passed.empty()) {
            ++report_.outcomes[passed];
        }
        is_fork_due_ = is_worth_a_fork(before);
        if (options_.fork_at && options_.fork_at->first == request.height.value) {
            enter(options_.fork_at->second);
        }
    }

    void note_receipt(const contracts::Receipt& receipt) {
        if (judge_.ledger.honest.contains(receipt.sender) || judge_.names.contains(receipt.sender)) {
            return;
        }
        ++report_.attacks;
        if (receipt.code == 0) {
            ++report_.effective;
            ++report_.executed[receipt.action];
        }
    }

    void note_event(const contracts::HistoryRecord& entry) {
        if (std::holds_alternative<contracts::history::Submitted>(entry.event)) {
            bulletin_.tasks.push_back(entry.task);
            ++bulletin_.submitted[entry.actor];
        } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
            ++report_.outcomes[judge_.name_of(slashed->from) + " slashed for " + to_string(slashed->reason)];
        }
    }

    void note_reveals(const std::vector<contracts::DisputeId>& disputes) {
        for (const contracts::DisputeId& id : disputes) {
            const model::Game& game = judge_.chain().games.at(id);
            const dispute::Position& position = game.position;
            const auto first_node = dispute::first_node_of(position);
            const auto pending = position.pending();
            if (first_node && !pending.empty()) {
                const std::uint32_t height = dispute::split(game.claim, position).child_height;
                bulletin_.reveals[id].push_back({*first_node, height, {pending.begin(), pending.end()}});
            }
        }
    }

    bool is_done() {
        const Worker& submitter = *workers_.front();
        return chain_.height() >= options_.active_blocks &&
               bulletin_.submitted[submitter.id()] >= submitter.orders.size() && judge_.describe_open().empty();
    }

    std::string describe_open() const {
        const std::string open = judge_.describe_open();
        return open.empty() ? "an order was not submitted" : open;
    }

    model::Workshop& shop_;
    simulation::Events events_;
    const std::uint64_t seed_;
    simulation::Gauge gauge_;
    const Options options_;
    const PlanKind plan_kind_;
    std::unique_ptr<Plan> plan_;
    std::vector<Kind> kinds_;
    const contracts::Genesis genesis_;
    Judge judge_;
    simulation::Ledger chain_;
    simulation::Bulletin bulletin_;
    std::vector<std::unique_ptr<Replica>> replicas_;
    std::vector<std::unique_ptr<Worker>> workers_;
    Attacker attacker_;
    Staller staller_;
    Filler filler_;
    Member candidate_;
    std::uint64_t away_until_ = 0;
    std::set<Due> dues_;  ///< of the last block
    bool is_fork_due_ = false;
    /// kFew: at so many blocks, by what is new there: a dispute, of which all continuations but one are played, or
    /// another duty, of which one is. A contribution falls due with most of these.
    Due::Kind forked_for_ = Due::Kind::kDispute;
    std::map<Due::Kind, int> forks_left_{{Due::Kind::kDispute, 1}, {Due::Kind::kVerdict, 1}};
    std::optional<Continuation> continuation_;  ///< in a copy: how the attackers go on
    std::set<Due> owed_;                        ///< at its beginning
    Report report_;
};

}  // namespace

PlanKind plan_of(std::uint64_t seed) noexcept {
    return static_cast<PlanKind>(seed % 2 == 0 ? 0 : 1 + seed / 2 % (kSeedPlans - 1));
}

Report play(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, const Options& options) {
    return Arena(shop, seed, home, options).run();
}

}  // namespace assay::liability
