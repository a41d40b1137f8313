// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/arena.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include <core/codec/borsh.hpp>
#include <tests/liability/attacker.hpp>
#include <tests/liability/ledger.hpp>
#include <tests/simulation/worker.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::liability {
namespace {

using contracts::test::kCoin;
using simulation::Broken;
using simulation::Kind;
using simulation::Replica;
using simulation::Worker;

constexpr std::uint64_t kPatienceBlocks = 3'000;  ///< within so many blocks after the attack everything has to have ended
constexpr std::uint64_t kLatencyMs = 3'000;       ///< of honest messages, with blocks of a second
constexpr int kFirstAttacker = 100;
constexpr int kAttackers = 3;

contracts::Params make_params(simulation::Events& events) {
    contracts::Params params;
    params.accept_blocks = 15;
    params.commit_blocks = 30;
    params.publish_blocks = 20;
    params.challenge_blocks = 24;
    params.disclose_blocks = 20;
    params.dispute_clock_blocks = 80;
    params.dispute_extension_blocks = 20;
    params.segments_checked = 6;
    params.segments_checked_max = 6;
    params.solver_bond_bps = 0;
    params.forced_error_bps = events.chance(50) ? 3'000 : 0;
    params.watchers_per_verdict = 2;
    params.contributors_max = events.chance(30) ? 0 : 4;
    params.contribute_blocks = 12;
    params.contributor_bond = {100 * kCoin};
    params.task_value_max = {26 * kCoin};
    params.draw_blocks = 300;
    params.redraw_blocks = 2;
    params.decline_blocks = 60;
    return params;
}

crypto::SecretKey key_of(int number) {
    std::array<std::uint8_t, 32> secret{};
    secret[31] = static_cast<std::uint8_t>(number + 1);
    return crypto::SecretKey::from_bytes(secret).value();
}

/// Everybody honest that a network needs, and sometimes a worker who is not: its accounts are the attacker's too.
std::vector<Kind> choose_kinds(simulation::Events& events) {
    std::vector<Kind> kinds{
        Kind::kSubmitter, Kind::kHonestSolver, Kind::kHonestSolver,  Kind::kVerifier,
        Kind::kVerifier,  Kind::kVerifier,     Kind::kVerifier,      Kind::kWhistleblower,
        Kind::kWhistleblower};
    const Kind dishonest[] = {Kind::kCheat, Kind::kLazyVerifier, Kind::kFalseAccuser, Kind::kLyingProfiler};
    if (events.chance(50)) {
        kinds.push_back(dishonest[events.below(4)]);
    }
    return kinds;
}

class Arena {
  public:
    Arena(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, const Options& options)
        : shop_(shop), events_(seed), gauge_(shop), options_(options), attacker_(seed, genesis_) {
        const std::vector<Kind> kinds = choose_kinds(events_);
        genesis_.chain_id = "arena-1";
        genesis_.params = make_params(events_);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            genesis_.balances[key_of(static_cast<int>(i)).account()] = Amount{1'000 * kCoin};
        }
        for (int i = 0; i < kAttackers; ++i) {
            attacker_.add_account(key_of(kFirstAttacker + i));
            genesis_.balances[key_of(kFirstAttacker + i).account()] = Amount{1'000 * kCoin};
        }
        const auto start = contracts::make_genesis(genesis_).value();
        view_.apply(start);
        mirror_.apply(start);
        chain_.on_block = [this](const solo::Block& block) { on_block(block); };
        replicas_.push_back(std::make_unique<Replica>(events_, chain_, genesis_, 0, home / "node", replicas_));
        replicas_.front()->on_transaction = [this](const Bytes& tx) { attacker_.see_transaction(tx); };
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            add_worker(static_cast<int>(i), kinds[i]);
        }
        plan_tasks();
    }

    Report run() {
        try {
            replicas_.front()->start();
            for (const auto& worker : workers_) {
                worker->start();
            }
            if (options_.attacks) {
                attack();
            }
            while (!is_done()) {
                if (chain_.height() > options_.active_blocks + kPatienceBlocks) {
                    throw Broken("law 3: something is open for ever: " + describe_open());
                }
                if (!events_.step()) {
                    throw Broken("nothing happens any more");
                }
            }
            judge_rest();
        } catch (const Broken& broken) {
            report_.broken = broken.what();
        }
        report_.blocks = chain_.height();
        return report_;
    }

  private:
    void add_worker(int number, Kind kind) {
        const auto key = key_of(number);
        workers_.push_back(std::make_unique<Worker>(
            events_, bulletin_, shop_, gauge_, chain_, 1 + number, kind, key, replicas_, genesis_.chain_id
        ));
        workers_.back()->latency_ms = kLatencyMs;
        if (simulation::is_honest(kind)) {
            ledger_.honest.insert(key.account());
        }
        names_[key.account()] = to_string(kind);
    }

    void plan_tasks() {
        auto& orders = workers_.front()->orders;
        orders.resize(2 + events_.below(2));
        for (simulation::Order& order : orders) {
            order.in_tolerance = events_.chance(40);
        }
    }

    /// The attacker acts twice a block, sees every transaction at once, and goes first.
    void attack() {
        if (chain_.height() < options_.active_blocks && replicas_.front()->is_up()) {
            attacker_.act(*replicas_.front(), mirror_);
        }
        events_.after(500, [this] { attack(); });
    }

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
        for (std::size_t i = 0; i < outcome.receipts.size(); ++i) {
            note_receipt(outcome.receipts[i], request.txs[i]);
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            note_event(entry);
        }
        note_reveals(outcome.disputes);
        if (options_.trace) {
            tell(request.height, outcome);
        }
        judge_block(outcome);
    }

    void note_receipt(const contracts::Receipt& receipt, const Bytes& tx) {
        if (!attacker_.owns(receipt.sender)) {
            return;
        }
        ++report_.attacks;
        if (receipt.code == 0) {
            ++report_.effective;
            ++report_.executed[receipt.action];
            const auto decoded = codec::decode<contracts::Tx>(tx);
            const auto* transfer = std::get_if<contracts::Transfer>(&decoded->body.action);
            // What a dishonest worker gets is still the attackers'.
            const bool is_theirs = transfer != nullptr && !ledger_.honest.contains(transfer->to) &&
                                   genesis_.balances.contains(transfer->to);
            if (transfer != nullptr && !is_theirs) {
                gifts_ += transfer->amount.grains;  // is given away, and makes up for nothing
            }
        }
    }

    void note_event(const contracts::HistoryRecord& entry) {
        if (std::holds_alternative<contracts::history::Submitted>(entry.event)) {
            bulletin_.tasks.push_back(entry.task);
        } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
            ++report_.outcomes[name_of(slashed->from) + " slashed for " + to_string(slashed->reason)];
            ledger_.slashes.push_back({slashed->from, slashed->amount.grains, slashed->reason});
            if (slashed->reason == contracts::Reason::kUnserved) {
                shared_.insert({entry.task, entry.height.value});
            }
            judged_.push_back({entry.task, entry.height.value});
        }
    }

    /// AVL-8: whether it is one of two equal losses of a verifier and a solver, of which nobody can say whose fault they are.
    bool is_shared(const Slash& slash, const std::pair<contracts::TaskId, std::uint64_t>& place) const {
        return slash.reason == contracts::Reason::kUnserved ||
               (slash.reason == contracts::Reason::kMissedVerdict && shared_.contains(place));
    }

    void note_reveals(const std::vector<contracts::DisputeId>& disputes) {
        for (const contracts::DisputeId& id : disputes) {
            const model::Game& game = mirror_.games.at(id);
            const trace::Position& position = game.position;
            if (position.level == trace::Level::kNodes && !position.pending.empty()) {
                bulletin_.reveals[id].push_back(
                    {position.first_node, trace::split(game.claim, position).child_height, position.pending}
                );
            }
        }
    }

    /// Law 1, as it shows: whoever follows the roles with a latency of some blocks is slashed for nothing. Law 3: what a
    /// block holds is bounded by its gas.
    void judge_block(const contracts::BlockOutcome& outcome) {
        std::uint64_t gas = 0;
        for (const contracts::Receipt& receipt : outcome.receipts) {
            gas += receipt.gas;
        }
        if (gas > genesis_.params.block_gas_max) {
            throw Broken("law 3: a block of " + std::to_string(gas) + " gas");
        }
        if (outcome.end_gas > genesis_.params.end_block_gas_max) {
            throw Broken("law 3: the end of a block takes " + std::to_string(outcome.end_gas) + " gas");
        }
        for (; judged_slashes_ < ledger_.slashes.size(); ++judged_slashes_) {
            const Slash& slash = ledger_.slashes[judged_slashes_];
            if (ledger_.honest.contains(slash.from) && !is_shared(slash, judged_[judged_slashes_])) {
                throw Broken("law 1: " + name_of(slash.from) + " slashed for " + to_string(slash.reason) +
                             " at height " + std::to_string(chain_.height()));
            }
        }
    }

    /// Law 2, when all has come to rest, and what is left of law 3.
    void judge_rest() {
        report_.harm = ledger_.harm(mirror_.world, shop_);
        std::uint64_t left = 0;
        std::uint64_t had = 0;
        for (const auto& [account, balance] : genesis_.balances) {
            if (!ledger_.honest.contains(account)) {
                had += balance.grains;
                left += wealth(mirror_.world, account);
            }
        }
        report_.paid = static_cast<std::int64_t>(had) - static_cast<std::int64_t>(left + gifts_);
        for (const auto& [id, task] : mirror_.world.tasks) {
            ++report_.outcomes["task: " + std::string(to_string(task.state))];
        }
        if (report_.harm > report_.paid) {
            throw Broken("law 2: honest accounts lost " + std::to_string(report_.harm) + " grains, the attacker paid " +
                         std::to_string(report_.paid));
        }
        for (const auto& [key, stake] : mirror_.world.stakes) {
            const auto seat = mirror_.world.beacon.seats.find(key.second);
            const bool has_seat = key.first == contracts::Role::kVerifier && seat != mirror_.world.beacon.seats.end();
            if (stake.locked != (has_seat ? seat->second.bond : 0)) {
                throw Broken("law 3: stake of " + name_of(key.second) + " is locked for ever");
            }
        }
    }

    bool is_done() const {
        const auto& tasks = mirror_.world.tasks;
        return chain_.height() >= options_.active_blocks && bulletin_.tasks.size() >= workers_.front()->orders.size() &&
               std::all_of(tasks.begin(), tasks.end(), [](const auto& entry) {
                   return contracts::is_terminal(entry.second.state);
               });
    }

    std::string describe_open() const {
        for (const auto& [id, task] : mirror_.world.tasks) {
            if (!contracts::is_terminal(task.state)) {
                return "a task of " + name_of(task.submitter) + " is " + to_string(task.state);
            }
        }
        return "an order was not submitted";
    }

    std::string name_of(const AccountId& account) const {
        const auto name = names_.find(account);
        return name == names_.end() ? "the attacker" : name->second;
    }

    void tell(Height height, const contracts::BlockOutcome& outcome) const {
        std::cout << "block " << height.value << "\n";
        for (const contracts::Receipt& receipt : outcome.receipts) {
            std::cout << "  " << receipt.action << " by " << name_of(receipt.sender) << " "
                      << (receipt.code == 0 ? "" : to_string(static_cast<contracts::TxError>(receipt.code))) << "\n";
        }
        for (const contracts::HistoryRecord& entry : outcome.history) {
            const std::string task = to_hex(entry.task.view()).substr(0, 6);
            if (const auto* changed = std::get_if<contracts::history::StateChanged>(&entry.event)) {
                std::cout << "  task " << task << " -> " << to_string(changed->state) << "\n";
            } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
                std::cout << "  task " << task << ": " << name_of(slashed->from) << " slashed for "
                          << to_string(slashed->reason) << "\n";
            } else if (const auto* drawn = std::get_if<contracts::history::VerifierDrawn>(&entry.event)) {
                std::cout << "  task " << task << ": " << name_of(drawn->verifier) << " drawn for segment " << drawn->segment << "\n";
            } else if (const auto* verdict = std::get_if<contracts::history::VerdictPublished>(&entry.event)) {
                std::cout << "  task " << task << ": " << name_of(entry.actor) << (verdict->accepts ? " accepts" : " rejects")
                          << " segment " << verdict->segment << "\n";
            } else if (const auto* disclosed = std::get_if<contracts::history::VerdictDisclosed>(&entry.event)) {
                std::cout << "  task " << task << ": " << name_of(disclosed->verifier) << " discloses segment "
                          << disclosed->segment << (disclosed->forced ? ", forced" : "") << "\n";
            } else if (const auto* challenged = std::get_if<contracts::history::VerdictChallenged>(&entry.event)) {
                std::cout << "  task " << task << ": " << name_of(entry.actor) << " challenges the verdict of "
                          << name_of(challenged->verifier) << " on segment " << challenged->segment << "\n";
            } else if (const auto* paid = std::get_if<contracts::history::Paid>(&entry.event)) {
                std::cout << "  task " << task << ": " << name_of(paid->to) << " paid " << paid->amount.grains
                          << " for " << to_string(paid->reason) << "\n";
            }
        }
    }

    model::Workshop& shop_;
    simulation::Events events_;
    simulation::Gauge gauge_;
    const Options options_;
    contracts::Genesis genesis_;
    simulation::Ledger chain_;
    simulation::Bulletin bulletin_;
    contracts::test::MapView view_;
    model::Mirror mirror_;
    std::vector<std::unique_ptr<Replica>> replicas_;
    std::vector<std::unique_ptr<Worker>> workers_;
    Attacker attacker_;
    Ledger ledger_;
    std::size_t judged_slashes_ = 0;
    std::vector<std::pair<contracts::TaskId, std::uint64_t>> judged_;  ///< the task and the height of each slash
    std::set<std::pair<contracts::TaskId, std::uint64_t>> shared_;     ///< where a solver shared a verifier's loss
    std::uint64_t gifts_ = 0;
    std::map<AccountId, std::string> names_;
    Report report_;
};

}  // namespace

Report play(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, const Options& options) {
    return Arena(shop, seed, home, options).run();
}

}  // namespace assay::liability
