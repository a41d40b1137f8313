// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/simulation.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

#include <contracts/chain/duty.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>
#include <tests/model/records.hpp>
#include <tests/simulation/cast.hpp>
#include <tests/simulation/ends.hpp>
#include <tests/simulation/faults.hpp>
#include <tests/simulation/quarrels.hpp>
#include <tests/simulation/worker.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::simulation {
namespace {

using contracts::TaskState;
using contracts::test::kCoin;

constexpr std::uint64_t kPatienceMs = 1'500'000;  ///< within so long everything has to have ended
/// An honest party that was cut off for so many blocks may lose: its clocks are not much longer. Who was not must not.
constexpr std::uint64_t kHeldBlocks = 6;
constexpr std::uint32_t kTogetherPercent = 75;  ///< of the tasks of groups, where there are solvers enough

class Simulation {
  public:
    Simulation(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, bool trace)
        : events_(seed), trace_(trace), shop_(shop), gauge_(shop) {
        const int replicas = 3 + static_cast<int>(events_.below(3));
        const bool in_tolerance = events_.chance(25);
        const std::vector<Kind> kinds = choose_kinds(events_, in_tolerance);
        genesis_.chain_id = "sim-1";
        genesis_.params = make_params(events_, in_tolerance);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            genesis_.balances[key_of(static_cast<int>(i)).account()] = Amount{1'000 * kCoin};
        }
        const auto start = contracts::make_genesis(genesis_).value();
        view_.apply(start);
        mirror_.apply(start);
        ledger_.on_block = [this](const solo::Block& block) { on_block(block); };
        for (int i = 0; i < replicas; ++i) {
            replicas_.push_back(
                std::make_unique<Replica>(events_, ledger_, genesis_, i, home / std::to_string(i), replicas_)
            );
        }
        if (events_.chance(25)) {
            replicas_[events_.below(replicas_.size())]->lies = true;
        }
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const int place = replicas + static_cast<int>(i);
            workers_.push_back(std::make_unique<Worker>(
                events_, bulletin_, shop, gauge_, ledger_, place, kinds[i], key_of(static_cast<int>(i)), replicas_,
                genesis_.chain_id
            ));
        }
        for (const auto& worker : workers_) {
            for (const auto& other : workers_) {
                if (other != worker && is_solver(other->kind())) {
                    worker->colleagues.push_back(other.get());
                }
            }
            worker->together_percent = has_company(kinds) ? kTogetherPercent : 0;
            worker->together().demands = events_.chance(60);
            worker->together().admits = events_.chance(70);
        }
        auto& orders = workers_.front()->orders;
        orders = plan_orders(events_, in_tolerance, kinds);
        tasks_ = orders.size();
        faults_ms_ = plan_faults(events_, replicas_, workers_);
    }

    Report run() {
        Report report;
        try {
            for (const auto& replica : replicas_) {
                replica->start();
            }
            for (const auto& worker : workers_) {
                worker->start();
            }
            while (!is_done()) {
                if (events_.now() > kPatienceMs) {
                    throw Broken("something did not end");
                }
                if (!events_.step()) {
                    throw Broken("nothing happens any more");
                }
            }
            judge(report);
        } catch (const Broken& broken) {
            report.broken = broken.what();
        } catch (const solo::HandshakeError& error) {
            report.broken = error.what();
        }
        report.blocks = ledger_.height();
        report.lost = events_.lost;
        for (const auto& replica : replicas_) {
            report.deaths += replica->deaths;
            report.replayed += replica->replayed;
            report.refused += replica->refused;
        }
        return report;
    }

  private:
    /// What everybody can read of a block, from a state machine without storage under it.
    void on_block(const solo::Block& block) {
        const auto request = solo::to_request(block);
        contracts::BlockContext context;
        context.height = request.height;
        context.time_ms = request.time_ms;
        context.block_hash = request.block_hash;
        context.proposer = request.proposer;
        const auto outcome = contracts::apply_block(view_, genesis_.chain_id, context, request.txs);
        view_.apply(outcome.changes);
        mirror_.apply(outcome.changes);
        if (model::count_money(mirror_.world) != mirror_.world.supply) {
            throw Broken("the supply changed");
        }
        for (std::size_t i = 0; i < request.txs.size(); ++i) {
            const auto tx = codec::decode<contracts::Tx>(request.txs[i]);
            // DTY-3: an answer that another transaction of the block has forestalled leaves no trace.
            if (!outcome.receipts[i].is_charged && !(tx && contracts::is_answer(tx->body))) {
                throw Broken("a decided block holds what nobody has paid for");  // FEE-4
            }
        }
        const contracts::Beacon beacon = contracts::get_beacon(view_);
        if (beacon.rounds != rounds_) {
            rounds_ = beacon.rounds;
            withheld_.insert(withheld_.end(), beacon.withheld.begin(), beacon.withheld.end());
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            if (const auto* round = std::get_if<contracts::history::RoundClosed>(&entry.event)) {
                drawn_by_secrets_ += round->contributors != 0 ? 1 : 0;
            }
            judge_order(entry);
            quarrels_.note(entry);
            if (std::holds_alternative<contracts::history::Submitted>(entry.event)) {
                bulletin_.tasks.push_back(entry.task);
                ++bulletin_.submitted[entry.actor];
            } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
                slashes_.emplace_back(entry.task, *slashed);
            }
        }
        quarrels_.end_block(mirror_.world, genesis_.params);
        for (const contracts::DisputeId& id : outcome.disputes) {
            const model::Game& game = mirror_.games.at(id);
            const dispute::Position& position = game.position;
            const auto first_node = dispute::first_node_of(position);
            const auto pending = position.pending();
            if (first_node && !pending.empty()) {
                const std::uint32_t height = dispute::split(game.claim, position).child_height;
                bulletin_.reveals[id].push_back({*first_node, height, {pending.begin(), pending.end()}});
            }
        }
        if (trace_) {
            tell(request, outcome);
        }
    }

    void tell(const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome) const {
        std::cout << "block " << block.height.value << " at " << events_.now() << " ms\n";
        for (const contracts::Receipt& receipt : outcome.receipts) {
            std::cout << "  " << receipt.action << " by " << name_of(receipt.sender)
                      << (receipt.code == 0
                              ? ""
                              : std::string(": ") + to_string(static_cast<contracts::TxError>(receipt.code)))
                      << "\n";
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            if (const auto* changed = std::get_if<contracts::history::StateChanged>(&entry.event)) {
                std::cout << "  -> " << to_string(changed->state) << "\n";
            } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
                std::cout << "  slashed " << name_of(slashed->from) << " for " << to_string(slashed->reason) << "\n";
            }
        }
    }

    std::string name_of(const AccountId& account) const {
        const Worker* worker = find_worker(account);
        return worker == nullptr ? "?" : std::string(to_string(worker->kind())) + " " + model::name_of(account);
    }

    const Worker* find_worker(const AccountId& account) const {
        for (const auto& worker : workers_) {
            if (worker->id() == account) {
                return worker.get();
            }
        }
        return nullptr;
    }

    bool is_done() const {
        const auto& tasks = mirror_.world.tasks;
        const bool ended = tasks.size() >= tasks_ && std::all_of(tasks.begin(), tasks.end(), [](const auto& entry) {
                               return contracts::is_terminal(entry.second.state);
                           });
        return ended && events_.now() > faults_ms_ &&
               std::all_of(replicas_.begin(), replicas_.end(), [&](const auto& r) {
                   return r->is_up() && r->height() == ledger_.height();
               });
    }

    /// Whether somebody honest who could have turned it was cut off for longer than there is time.
    bool is_held() const {
        return std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
            return is_honest(worker->kind()) && worker->lateness() >= kHeldBlocks;
        });
    }

    /// By distance, a replaced segment is seen by nobody but its verifier.
    bool may_escape(const Worker& solver, const model::Task& task) const {
        const auto replaced = solver.replaced_segment(task.spec);
        if (!task.profiling || !replaced) {
            return false;
        }
        return std::none_of(task.duties.begin(), task.duties.end(), [&](const model::Duty& duty) {
            return duty.segment == *replaced && is_honest(find_worker(duty.verifier)->kind()) &&
                   !has_forgotten(duty.verifier);
        });
    }

    /// What liars say by distance is refuted in time: their profiles, and their verdicts where the task is settled.
    void judge_liars(const model::Task& task) const {
        // LIN-4: of what is cancelled nothing is refuted any more.
        if (is_held() || !task.profiling || task.state == TaskState::kCancelled) {
            return;
        }
        for (const model::Profiler& profiler : task.profiling->profilers) {
            const bool stands = profiler.status == contracts::ProfileStatus::kStanding;
            // PRF-5: a replay that nobody can repeat, since what it starts from is gone, is not disputed.
            if (stands && !is_honest(find_worker(profiler.account)->kind()) && !has_forgotten(profiler.account)) {
                throw Broken("a false profile stands");
            }
        }
        for (const model::Duty& duty : task.duties) {
            const Kind kind = find_worker(duty.verifier)->kind();
            const bool lies = kind == Kind::kFalseAccuser || kind == Kind::kLazyVerifier;
            const bool counts = duty.status == contracts::VerdictStatus::kAccepted ||
                                duty.status == contracts::VerdictStatus::kRejected;
            if (lies && duty.verdict.measurement && counts && task.state == TaskState::kSettled) {
                throw Broken("a false verdict by distance counts");
            }
        }
    }

    bool has_forgotten(const AccountId& account) const { return find_worker(account)->has_forgotten(); }

    /// Whether its solver does not serve all that its verifiers need.
    bool is_withheld(const contracts::TaskId& id) const {
        const model::Task& task = mirror_.world.tasks.at(id);
        const Worker* solver = task.solver ? find_worker(*task.solver) : nullptr;
        return solver != nullptr && (solver->kind() == Kind::kWithholder || solver->has_forgotten());
    }

    /// Whether a member of the group that trained it lost its disk, or did not serve what it had.
    bool has_lost_part(const model::Task& task) const {
        if (!task.team) {
            return false;
        }
        const auto& partners = task.team->bonds;
        return has_forgotten(*task.solver) || std::any_of(partners.begin(), partners.end(), [this](const auto& each) {
                   return has_forgotten(each.first);
               });
    }

    /// Whether the state that it was to start from is lost.
    bool has_lost_start(const model::Task& task) const { return task.spec.parent && is_withheld(*task.spec.parent); }

    /// The ends that a loss of their own disks may bring to the parties of a task.
    bool is_forgotten(const model::Task& task, const Worker* solver) const {
        if (task.state == TaskState::kRefused) {
            const auto& profilers = task.profiling->profilers;
            return has_lost_start(task) ||
                   std::any_of(profilers.begin(), profilers.end(), [&](const model::Profiler& profiler) {
                       return has_forgotten(profiler.account);
                   });
        }
        if (task.state == TaskState::kCancelled || (task.state == TaskState::kExpired && solver == nullptr)) {
            return has_lost_start(task);
        }
        return solver != nullptr && trains_rightly(solver->kind()) && solver->has_forgotten();
    }

    bool is_outvoted(const model::Task& task) const { return simulation::is_outvoted(task, honest_); }

    TaskState expected_end(const model::Task& task, const Worker* solver) const {
        // LIN-4: nobody had accepted it.
        const bool is_cancelled = task.state == TaskState::kCancelled && task.tainted_by;
        if (is_cancelled || is_forgotten(task, solver) || has_lost_part(task)) {
            return task.state;
        }
        const bool withholds = solver != nullptr && solver->kind() == Kind::kWithholder;
        // A lead that lies may lose any of its segments, all of which are its own.
        const bool is_leads_fault = solver != nullptr && !is_honest(solver->kind());
        if (task.team && task.team->together && is_leads_fault && task.state == TaskState::kConvicted) {
            return TaskState::kConvicted;
        }
        // Where members take turns, each of them computes what is withheld, and serves it.
        if (task.team && !(withholds && task.team->together)) {
            return expected_end_of_group(shop_, task);
        }
        if (withholds) {
            // AVL-1: it is paid where nobody was drawn for what it withholds.
            return task.state == TaskState::kSettled ? TaskState::kSettled : TaskState::kConvicted;
        }
        const bool escapes = solver != nullptr && task.state == TaskState::kSettled && may_escape(*solver, task);
        const bool ends_well = escapes || (solver != nullptr && trains_rightly(solver->kind()) && !is_outvoted(task));
        return ends_well ? TaskState::kSettled : TaskState::kConvicted;
    }

    std::string describe(const model::Task& task, const Worker* solver) const {
        const bool escapes = solver != nullptr && !trains_rightly(solver->kind()) && task.state == TaskState::kSettled;
        return std::string(task.spec.parent ? "stacked, " : "") + (task.profiling ? "by distance, " : "") +
               (task.team ? (task.team->together ? "a group that computes together, led by " : "a group led by ") : ""
               ) +
               (solver == nullptr ? "nobody" : to_string(solver->kind())) + ": " + to_string(task.state) +
               (task.team && task.team->last ? ", cut" : "") + (escapes && !task.team ? ", judged by a liar" : "") +
               (task.tainted_by ? ", marked" : "") +
               (task.state != TaskState::kSettled && is_forgotten(task, solver) ? ", a disk being lost" : "");
    }

    void judge_group(const contracts::TaskId& id, const model::Task& task) {
        if (!task.team) {
            return;
        }
        const auto fails = [](const std::string& fault) {
            if (!fault.empty()) {
                throw Broken(fault);
            }
        };
        // However late others were: who was not is not convicted.
        const auto is_excused = [this](const AccountId& account) {
            const Worker* worker = find_worker(account);
            return !is_honest(worker->kind()) || worker->lateness() >= kHeldBlocks || worker->has_forgotten();
        };
        fails(fault_of_convictions(task, is_excused));
        fails(quarrels_.fault_of_demands(id, is_excused));
        if (is_held() || has_lost_part(task)) {
            return;
        }
        fails(
            task.team->together ? fault_of_members(shop_, bulletin_.company, id, task, honest_)
                                : fault_of_group(shop_, task, honest_)
        );
    }

    /// LIN-3, LIN-4: who is settled bears the mark of a convicted ancestor, and nobody another.
    void judge_mark(const model::Task& task) const {
        bool is_above = false;
        bool is_marked_by_ancestor = false;
        for (auto id = task.spec.parent; id;) {
            const model::Task& ancestor = mirror_.world.tasks.at(*id);
            const bool is_cut = ancestor.team && ancestor.team->last && !ancestor.team->convicted.empty();  // GRP-9
            const bool convicted = ancestor.state == TaskState::kConvicted || is_cut;
            is_above = is_above || convicted;
            is_marked_by_ancestor = is_marked_by_ancestor || (convicted && task.tainted_by == id);
            id = ancestor.spec.parent;
        }
        if (task.tainted_by ? !is_marked_by_ancestor : is_above && task.state == TaskState::kSettled) {
            throw Broken("a mark is missing, or without a reason");
        }
    }

    /// LIN-3: nothing is settled before what it was built upon is over.
    void judge_order(const contracts::HistoryRecord& entry) const {
        const auto* changed = std::get_if<contracts::history::StateChanged>(&entry.event);
        const auto& tasks = mirror_.world.tasks;
        if (changed == nullptr || changed->state != TaskState::kSettled || !tasks.at(entry.task).spec.parent) {
            return;
        }
        if (!contracts::is_terminal(tasks.at(*tasks.at(entry.task).spec.parent).state)) {
            throw Broken("settled before its parent was over");
        }
    }

    void judge(Report& report) {
        struct Nothing final : merkle::NodeReader {
            std::optional<Bytes> read_node(const merkle::NodeKey& /*key*/) const override { return std::nullopt; }
        };
        std::map<Bytes, std::optional<Bytes>> slots;
        for (const auto& [key, value] : view_.slots()) {
            slots[key] = value;
        }
        report.app_hash = merkle::update_tree(Nothing{}, std::nullopt, 1, slots).root;
        for (const auto& replica : replicas_) {
            if (replica->state()->app_hash() != report.app_hash) {
                throw Broken("a replica's state is not what the blocks make");
            }
        }
        for (const auto& [id, task] : mirror_.world.tasks) {
            const Worker* solver = task.solver ? find_worker(*task.solver) : nullptr;
            const TaskState expected = expected_end(task, solver);
            const std::string what = describe(task, solver);
            if (task.state != expected && !is_held()) {
                throw Broken("a task of an unexpected end: " + what);
            }
            ++report.outcomes[(task.state == expected ? "" : "held: ") + what];
            judge_mark(task);
            judge_group(id, task);
            judge_liars(task);
        }
        for (const AccountId& account : withheld_) {
            const Worker* worker = find_worker(account);
            const bool held = worker->lateness() >= kHeldBlocks;
            if (is_honest(worker->kind()) && !held) {
                throw Broken("honest, in time, and without its seat in the beacon");
            }
            ++report.outcomes[std::string(held ? "held: " : "") + to_string(worker->kind()) + " withheld its secret"];
        }
        const auto add = [&](const auto& counts) {
            for (const auto& [name, count] : counts) {
                report.outcomes[name] += count;
            }
        };
        add(quarrels_.counts());
        add(bulletin_.company.counts);
        if (drawn_by_secrets_ != 0) {
            report.outcomes["draws with secrets"] += drawn_by_secrets_;
        }
        for (const auto& [id, slashed] : slashes_) {
            const Worker* worker = find_worker(slashed.from);
            const std::string what =
                std::string(to_string(worker->kind())) + " slashed for " + to_string(slashed.reason);
            const bool held = worker->lateness() >= kHeldBlocks;
            const bool forgot = worker->has_forgotten();
            const model::Task& task = mirror_.world.tasks.at(id);
            const Worker* solver = task.solver ? find_worker(*task.solver) : nullptr;
            // Who is served and does not say so makes its solver pay as much (AVL-6, AVL-8), and a solver that loses
            // its states who was drawn to replay them.
            const bool is_lost = has_lost_part(task) || (solver != nullptr && solver->has_forgotten());
            const bool shares = (slashed.reason == contracts::Reason::kMissedVerdict && is_lost) ||
                                slashed.reason == contracts::Reason::kUnserved ||
                                slashed.reason == contracts::Reason::kDemand ||  // GRP-14: fault_of_demands()
                                slashed.reason == contracts::Reason::kRoom ||    // TASK-15: with the submitter
                                (slashed.reason == contracts::Reason::kUnavailable && is_outvoted(task));
            if (is_honest(worker->kind()) && !shares && !held && !forgot) {
                throw Broken("honest, in time, and slashed: " + what);
            }
            const bool excused = is_honest(worker->kind()) && (held || forgot);
            ++report.outcomes[(!excused ? "" : forgot ? "lost its disk: " : "held: ") + what];
        }
    }

    Events events_;
    const bool trace_;
    model::Workshop& shop_;
    Gauge gauge_;
    std::uint64_t faults_ms_ = 0;  ///< so long the world is bad; then it is calm
    contracts::Genesis genesis_;
    Ledger ledger_;
    Bulletin bulletin_;
    contracts::test::MapView view_;
    model::Mirror mirror_;
    std::vector<std::pair<contracts::TaskId, contracts::history::Slashed>> slashes_;
    std::uint64_t rounds_ = 0;            ///< of the beacon, closed
    std::uint64_t drawn_by_secrets_ = 0;  ///< draws of a round to which somebody contributed
    std::vector<AccountId> withheld_;     ///< who lost a seat
    std::vector<std::unique_ptr<Replica>> replicas_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::size_t tasks_ = 0;
    Quarrels quarrels_{
        [this](const AccountId& account) { return std::string(to_string(find_worker(account)->kind())); }};
    const IsHonest honest_ = [this](const AccountId& account) { return is_honest(find_worker(account)->kind()); };
};

}  // namespace

Report simulate(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, bool trace) {
    return Simulation(shop, seed, home, trace).run();
}

}  // namespace assay::simulation
