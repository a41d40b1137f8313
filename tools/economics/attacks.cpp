// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/attacks.hpp>

#include <algorithm>
#include <cmath>

#include <tools/economics/model.hpp>
#include <tools/economics/world.hpp>

namespace assay::economics {
namespace {

constexpr std::uint32_t kSybils = 10;
constexpr Grains kAttacksRich =
    1'000'000 * kGrainsPerAsy;  // nobody runs dry in one task, and a crowd's wealth fits 64 bits

/// The accounts of one run, and who of them the attacker is.
struct Stage {
    Ledger ledger;
    Round round;
    std::vector<std::uint32_t> attackers;
};

/// Plays one run of the attack, or of honest play of the same seat.
using SetUp = std::function<Stage(bool attacking)>;
/// Whether the attack was found out in a run; nothing when the run says nothing about it.
using Found = std::function<std::optional<bool>(const Outcome&)>;

struct Attack {
    AttackResult result = {};
    SetUp set_up = {};
    Found found = {};
    bool empty_task = false;  ///< a task without work, whose alternative is to submit none
};

std::uint32_t next_id(const Ledger& ledger) { return static_cast<std::uint32_t>(ledger.agents.size()); }

class Attacks {
  public:
    Attacks(const Setting& setting, const Costs& costs) : s_(setting), costs_(costs), model_(setting, costs) {
        empty_ = setting;
        empty_.segment_cost = empty_.verify_cost = empty_.fetch_cost = 0;
    }

    std::vector<Attack> all() {
        on_training();
        on_checking();
        on_jackpots();
        on_disputes();
        return std::move(out_);
    }
    const Setting& empty() const { return empty_; }

  private:
    enum Verifiers { kAllHonest, kDesignPoint };

    Stage stage(Verifiers verifiers, std::uint32_t seated_watchers = 0) const {
        const Adversary& a = costs_.adversary;
        Stage out;
        Ledger& ledger = out.ledger;
        ledger.add(Role::kSubmitter, Strategy::kHonest, kAttacksRich);
        ledger.add(Role::kSolver, Strategy::kHonest, kAttacksRich);
        const std::uint32_t ours = std::min(a.coalition_verifiers, a.verifiers);
        const std::uint32_t lazy = std::min(a.careless_verifiers, a.verifiers - ours);
        ledger.add(
            Role::kVerifier, verifiers == kDesignPoint ? Strategy::kCoalition : Strategy::kHonest, kAttacksRich, ours
        );
        ledger.add(
            Role::kVerifier, verifiers == kDesignPoint ? Strategy::kLazy : Strategy::kHonest, kAttacksRich, lazy
        );
        ledger.add(Role::kVerifier, Strategy::kHonest, kAttacksRich, a.verifiers - ours - lazy);
        const std::uint32_t coalition = std::min(a.coalition_watchers, a.watchers);
        const std::uint32_t idle = std::min(a.idle_watchers, a.watchers - coalition);
        ledger.add(Role::kWatcher, Strategy::kCoalition, kAttacksRich, coalition);
        ledger.add(Role::kWatcher, Strategy::kIdle, kAttacksRich, idle);
        const std::uint32_t honest = a.watchers - coalition - idle;
        ledger.add(Role::kWatcher, Strategy::kHonest, kAttacksRich, honest - std::min(seated_watchers, honest));
        ledger.endow(10 * s_.jackpot * (s_.assignments + 1));  // a full treasury
        return out;
    }

    void add(Attack attack) { out_.push_back(std::move(attack)); }

    /// A solver that does `work` where an honest one trains.
    void solver_attack(const std::string& name, const std::string& what, SolverPlan plan, const std::string& rate) {
        plan.detection = detection_of(costs_, rate);
        SolverWork work{
            .wrong = std::min(plan.wrong, s_.segments),
            .wrong_initialisation = plan.wrong > s_.segments,
            .cost = std::llround(plan.cost * 1e9),
            .detection = plan.detection,
            .withheld = plan.withheld,
            .contributors = plan.contributors};
        Attack attack{.result = {.name = name, .role = "solver", .what = what}};
        const Expectation expected = model_.solver(plan);
        attack.result.model_gain = expected.gain;
        attack.result.model_detection = expected.detection;
        finish_solver_attack(std::move(attack), work, plan.self_challenge);
    }

    void finish_solver_attack(Attack attack, const SolverWork& work, bool self_challenge) {
        const SolverWork honest{.cost = s_.training_cost()};
        attack.set_up = [this, work, honest, self_challenge](bool attacking) {
            Stage out = stage(kDesignPoint);
            out.ledger.agents[1].strategy = Strategy::kCoalition;
            out.round.solver = 1;
            out.round.self_challenge = attacking && self_challenge;
            out.round.work = attacking ? work : honest;
            out.attackers = {1};
            return out;
        };
        attack.found = [](const Outcome& outcome) { return outcome.convicted; };
        add(std::move(attack));
    }

    double training() const { return to_asy(s_.training_cost()); }

    void on_training() {
        const std::uint32_t all = s_.segments;
        solver_attack(
            "infinitesimal_update", "interpolates from the start to stolen weights in steps too small to see",
            {.wrong = all, .cost = 0.005 * training(), .self_challenge = true}, "interpolation"
        );
        const std::uint32_t faked = std::max(1U, all - std::max(1U, all / 5));
        solver_attack(
            "blindfold_top_q", "trains the fifth with the largest updates, interpolates the rest",
            {.wrong = faked,
             .cost = to_asy(s_.segment_cost) * (all - faked) + 0.005 * training(),
             .self_challenge = true},
            "interpolation"
        );
        solver_attack(
            "synthetic_data", "makes up data that lead to stolen weights",
            {.wrong = all, .cost = 0.1 * training(), .self_challenge = true}, "synthetic_data"
        );
        solver_attack(
            "seed_and_order_grinding", "trains with two seeds and orders, hands in the better",
            {.wrong = all + 1, .cost = 2.0 * training(), .self_challenge = true}, "seed_grinding"
        );
        solver_attack(
            "drift_below_threshold", "trains at half the price in less precision, just below what tells",
            {.wrong = all, .cost = 0.5 * training(), .self_challenge = true}, "drift"
        );
        const SolverPlan skip{.detection = detection_of(costs_, "skipped_segments"), .self_challenge = true};
        solver_attack(
            "skipped_segments", "does not train the number of segments that pays best", model_.worst_skip(skip),
            "skipped_segments"
        );
        solver_attack(
            "stolen_checkpoints", "hands in somebody's checkpoints",
            {.wrong = all + 1, .cost = 0.01 * training(), .self_challenge = true}, "stolen_checkpoints"
        );
        SolverPlan withheld = skip;
        withheld.withheld = true;
        solver_attack(
            "withheld_artifacts", "skips, and lets nobody fetch the checkpoints that would tell",
            model_.worst_skip(withheld), "skipped_segments"
        );
        solver_attack(
            "biased_draw", "skips, and withholds secrets of the beacon until what is checked suits it",
            model_.worst_choice(skip), "skipped_segments"
        );
    }

    /// An account in the first assignment's seat that plays `strategy` where an honest verifier would sit.
    void verifier_attack(
        const std::string& name, const std::string& what, Strategy strategy, const Expectation& expected, Found found
    ) {
        Attack attack{.result = {.name = name, .role = "verifier", .what = what}, .found = std::move(found)};
        attack.result.model_gain = expected.gain;
        attack.result.model_detection = expected.detection;
        attack.set_up = [this, strategy](bool attacking) {
            Stage out = stage(kAllHonest);
            out.attackers = {next_id(out.ledger)};
            out.ledger.add(Role::kSybil, attacking ? strategy : Strategy::kHonest, kAttacksRich);
            out.round.verifier = out.attackers[0];
            out.round.self_challenge = attacking;
            return out;
        };
        add(std::move(attack));
    }

    void watcher_attack(
        const std::string& name, const std::string& what, Strategy strategy, const Expectation& expected, Found found
    ) {
        Attack attack{.result = {.name = name, .role = "whistleblower", .what = what}, .found = std::move(found)};
        attack.result.model_gain = expected.gain;
        attack.result.model_detection = expected.detection;
        attack.set_up = [this, strategy](bool attacking) {
            Stage out = stage(kAllHonest, 1);
            out.attackers = {next_id(out.ledger)};
            out.ledger.add(Role::kSybil, attacking ? strategy : Strategy::kHonest, kAttacksRich);
            out.ledger.add(Role::kSybil, Strategy::kHonest, kAttacksRich);
            out.round.verifier = out.attackers[0] + 1;
            out.round.watcher = out.attackers[0];
            return out;
        };
        add(std::move(attack));
    }

    void on_checking() {
        const Found slashed = [](const Outcome& outcome) { return outcome.seat_slashed; };
        const Found lost = [](const Outcome& outcome) { return outcome.disputes_lost > 0; };
        verifier_attack(
            "lazy_verifier", "accepts without a replay and invents the probe root", Strategy::kLazy, model_.lazy(true),
            slashed
        );
        verifier_attack(
            "copied_verdict", "publishes another's roots, which it did not commit to", Strategy::kCopying,
            model_.copied(true), slashed
        );
        verifier_attack(
            "false_rejection", "disputes honest work in the hope that its solver is offline", Strategy::kRejecting,
            model_.false_rejection(), lost
        );
        watcher_attack(
            "blind_challenge", "challenges every verdict it watches without a replay", Strategy::kBlind,
            model_.blind_challenge(), lost
        );
        watcher_attack(
            "forced_error_free_riding", "does not replay, challenges when another watcher does", Strategy::kFollowing,
            model_.follower(),
            [](const Outcome& outcome) -> std::optional<bool> {
                if (!outcome.seat_forced) {
                    return std::nullopt;
                }
                return !outcome.seat_won;
            }
        );
    }

    /// A coalition with its verifier in the first seat.
    SetUp coalition(const std::function<void(Round&)>& deviate) const {
        return [this, deviate](bool attacking) {
            Stage out = stage(kAllHonest);
            out.round.verifier = next_id(out.ledger);
            out.ledger.add(Role::kSybil, Strategy::kCoalition, kAttacksRich);
            for (std::uint32_t id = 0; id < out.ledger.agents.size(); ++id) {
                if (out.ledger.agents[id].strategy == Strategy::kCoalition) {
                    out.attackers.push_back(id);
                }
            }
            if (attacking) {
                deviate(out.round);
            }
            return out;
        };
    }

    void on_jackpots() {
        Attack dealing{
            .result =
                {.name = "jackpot_self_dealing",
                 .role = "verifier",
                 .what = "tells its own watchers and ten Sybils when its verdict is forced"},
            .set_up = coalition([](Round& round) { round.tipped_sybils = kSybils; })};
        dealing.result.model_gain = model_.self_dealing(kSybils).gain;
        add(std::move(dealing));
        Attack empty{
            .result = {
                .name = "submitter_solver_verifier_collusion",
                .role = "submitter",
                .what = "submits and solves its own task without any work, for its watchers' jackpots"}};
        empty.empty_task = true;
        empty.result.model_gain = Model(empty_, costs_).empty_task().gain;
        empty.set_up = [this](bool) {
            Stage out = stage(kDesignPoint);
            for (std::uint32_t id = 0; id < out.ledger.agents.size(); ++id) {
                Agent& agent = out.ledger.agents[id];
                if (agent.strategy == Strategy::kLazy) {
                    agent.strategy = Strategy::kHonest;
                }
                if (id < 2 || agent.strategy == Strategy::kCoalition) {
                    out.attackers.push_back(id);
                }
            }
            out.round.submitter = 0;
            out.round.solver = 1;
            out.round.work = SolverWork{};
            return out;
        };
        add(std::move(empty));
        const std::uint32_t contributors = worst_contributors();
        Attack biased{
            .result =
                {.name = "biased_jackpots",
                 .role = "verifier",
                 .what = "withholds secrets of the beacon until its watcher is drawn for its forced verdict"},
            .set_up = coalition([contributors](Round& round) { round.contributors = contributors; })};
        biased.result.model_gain = model_.biased_jackpots(contributors).gain;
        add(std::move(biased));
    }

    std::uint32_t worst_contributors() const {
        const std::uint32_t all = costs_.adversary.contributors;
        std::uint32_t worst = std::min(1U, all);
        for (std::uint32_t n = worst + 1; n <= all; ++n) {
            worst = model_.biased_jackpots(n).gain > model_.biased_jackpots(worst).gain ? n : worst;
        }
        return worst;
    }

    void on_disputes() {
        SolverPlan late{.detection = detection_of(costs_, "skipped_segments"), .self_challenge = true};
        late = model_.worst_skip(late);
        Setting stalled = s_;
        stalled.dispute_failure = missed_clock(costs_, s_.extension_blocks);
        const Expectation expected = Model(stalled, costs_).solver(late);
        Attack last{
            .result =
                {.name = "last_second_moves",
                 .role = "solver",
                 .what = "skips, and answers disputes in the last block of every move"},
            .set_up = {}};
        last.result.model_gain = expected.gain;
        last.result.model_detection = expected.detection;
        finish_solver_attack(
            std::move(last),
            {.wrong = late.wrong, .cost = std::llround(late.cost * 1e9), .detection = late.detection, .stalling = true},
            true
        );
        Attack flood{
            .result = {
                .name = "dispute_flooding", .role = "sybil", .what = "ten Sybils dispute ten honest segments at once"}};
        const Expectation flooded = model_.flooding(kSybils);
        flood.result.model_gain = flooded.gain;
        flood.result.model_detection = flooded.detection;
        flood.found = [](const Outcome& outcome) -> std::optional<bool> { return outcome.disputes_lost == kSybils; };
        flood.result.model_detection = std::pow(flooded.detection, kSybils);
        flood.set_up = [this](bool attacking) {
            Stage out = stage(kAllHonest);
            out.attackers = {next_id(out.ledger)};
            out.ledger.add(Role::kSybil, Strategy::kFlooding, kAttacksRich);
            out.round.floods = attacking ? kSybils : 0;
            return out;
        };
        add(std::move(flood));
        Attack self{
            .result =
                {.name = "self_slashing",
                 .role = "solver",
                 .what = "hands in nothing and disputes itself for the winner's share"},
            .set_up = {}};
        const Expectation slashed = model_.self_slashing();
        self.result.model_gain = slashed.gain;
        self.result.model_detection = slashed.detection;
        finish_solver_attack(std::move(self), {.wrong = s_.segments, .self_slashing = true}, false);
    }

    const Setting& s_;
    const Costs& costs_;
    Model model_;
    Setting empty_;
    std::vector<Attack> out_;
};

double wealth(const Stage& stage) {
    Grains out = 0;
    for (const std::uint32_t id : stage.attackers) {
        out += stage.ledger.agents[id].balance - stage.ledger.agents[id].start;
    }
    return to_asy(out);
}

void simulate(Attack& attack, const Setting& setting, const Costs& costs, const AttackOptions& options) {
    AttackResult& result = attack.result;
    result.runs = options.runs;
    double sum = 0.0;
    double squares = 0.0;
    std::uint32_t told = 0;
    std::uint32_t found = 0;
    for (std::uint32_t run = 0; run < options.runs; ++run) {
        Stage attacked = attack.set_up(true);
        Random random(options.seed * 0x1'0000'0001U + run);
        const Outcome outcome = play(attacked.ledger, setting, costs, attacked.round, random);
        double gain = wealth(attacked);
        if (!attack.empty_task) {
            Stage honest = attack.set_up(false);
            Random same(options.seed * 0x1'0000'0001U + run);
            static_cast<void>(play(honest.ledger, setting, costs, honest.round, same));
            gain -= wealth(honest);
        }
        sum += gain;
        squares += gain * gain;
        if (attack.found) {
            if (const std::optional<bool> known = attack.found(outcome)) {
                ++told;
                found += *known ? 1U : 0U;
            }
        }
    }
    const double n = options.runs;
    result.gain = sum / n;
    result.gain_error = std::sqrt(std::max(0.0, squares / n - result.gain * result.gain) / std::max(1.0, n - 1.0));
    if (told > 0) {
        const double rate = static_cast<double>(found) / told;
        result.detection = rate;
        result.detection_error = std::sqrt(rate * (1.0 - rate) / told);
    }
}

}  // namespace

std::vector<AttackResult> run_attacks(const Setting& setting, const Costs& costs, const AttackOptions& options) {
    Attacks attacks(setting, costs);
    std::vector<AttackResult> out;
    for (Attack& attack : attacks.all()) {
        if (options.progress) {
            options.progress(attack.result.name);
        }
        simulate(attack, attack.empty_task ? attacks.empty() : setting, costs, options);
        out.push_back(attack.result);
    }
    return out;
}

std::vector<std::string> rated_attacks() {
    return {"interpolation", "synthetic_data", "seed_grinding", "drift", "skipped_segments", "stolen_checkpoints"};
}

}  // namespace assay::economics
