// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/constraints.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

#include <contracts/state/params.hpp>
#include <contracts/stake/terms.hpp>
#include <contracts/stake/staking.hpp>
#include <tools/economics/committee.hpp>
#include <tools/economics/groups.hpp>
#include <tools/economics/lane.hpp>
#include <tools/economics/limits.hpp>
#include <tools/economics/model.hpp>
#include <tools/economics/needs.hpp>
#include <tools/economics/odds.hpp>
#include <tools/economics/waiting.hpp>
#include <tools/economics/windows.hpp>

namespace assay::economics {
namespace {

constexpr double kFalseConviction = 1e-3;  // by all committees of a row
constexpr double kLeastBurned = 1'000.0;   // bps of a slash

class Checker {
  public:
    Checker(const Setting& setting, const Parameters& parameters, const Costs& costs, const TaskCosts& task)
        : s_(setting), p_(parameters), costs_(costs), model_(setting, costs), task_(task) {
        winner_ = static_cast<double>(p_.slash_to_winner_bps) / 10'000.0;
        burned_ = 1.0 - winner_;
    }

    std::vector<Constraint> run() {
        solver();
        verifier();
        watcher();
        challenger();
        committee();
        committee_harm();
        money();
        beacon();
        work();
        append(group_constraints(s_, p_, costs_));
        append(waiting_constraints(s_, p_, costs_, task_));
        append(window_constraints(p_, costs_, task_));
        append(limit_constraints(p_, costs_, task_));
        append(lane_constraints(p_, costs_, task_));
        return std::move(out_);
    }

  private:
    void add(Constraint constraint) {
        constraint.task = task_.name;
        out_.push_back(std::move(constraint));
    }

    void append(std::vector<Constraint> constraints) {
        out_.insert(
            out_.end(), std::make_move_iterator(constraints.begin()), std::make_move_iterator(constraints.end())
        );
    }

    double lock(Grains bond) const { return costs_.capital_price * to_asy(bond); }

    /// The bond that makes a solver's skipping unprofitable, for the number of segments that needs most.
    double honest_bond() const {
        const double reward = to_asy(s_.net_reward());
        const SolverPlan honest{.wrong = 0};
        const double falsely = model_.conviction(honest);
        double need = 0.0;
        for (const std::uint32_t skipped : skipped_counts(s_.segments)) {
            const double found = model_.conviction({.wrong = skipped, .detection = detection_}) - falsely;
            const double saved = costs_.safety * to_asy(s_.segment_cost) * skipped;
            need = std::max(need, std::max(0.0, over(over(saved, found) - reward, burned_)));
        }
        return need;
    }

    void solver() {
        detection_ = detection_of(costs_, "skipped_segments");
        const double reward = to_asy(s_.net_reward());
        const double falsely = model_.conviction({.wrong = 0});
        add(
            {.name = "solver.participation",
             .role = "solver",
             .parameter = "reward",
             .have = reward,
             .need = to_asy(s_.training_cost()) + to_asy(s_.transaction_fee) * s_.solver_transactions +
                     lock(s_.solver_bond) + falsely * (reward + to_asy(s_.solver_bond)),
             .unit = "ASY",
             .meaning = "the reward after tax pays for training, fees, locked capital and false rejections",
             .help = "a higher reward, or fewer false rejections"}
        );
        add(
            {.name = "solver.honest",
             .role = "solver",
             .parameter = "solver_bond",
             .have = to_asy(s_.solver_bond),
             .need = honest_bond(),
             .unit = "ASY",
             .meaning = "what skipping saves is less than conviction costs, for every number of skipped segments",
             .help = "a higher solver bond, more segments checked, or a smaller coalition among verifiers"}
        );
        const double all = model_.conviction({.wrong = s_.segments, .detection = detection_});
        add(
            {.name = "solver.entry",
             .role = "solver",
             .parameter = "solver_bond",
             .have = to_asy(s_.solver_bond),
             .need = over(costs_.safety * (1.0 - all) * reward, all * burned_),
             .unit = "ASY",
             .meaning = "accepting tasks without training any of them loses money",
             .help = "a higher solver bond, more verifiers per segment, or a smaller coalition among verifiers"}
        );
        const auto five = std::max(1U, static_cast<std::uint32_t>(std::ceil(0.05 * s_.segments)));
        add(
            {.name = "solver.detection",
             .role = "solver",
             .parameter = "segments_checked",
             .have = model_.conviction({.wrong = five, .detection = detection_}),
             .need = costs_.least_detection,
             .unit = "",
             .meaning = "skipping 5 % of the segments is found at least this often",
             .help = "more segments checked, or more verifiers per segment"}
        );
    }

    void verifier() {
        const double share = to_asy(s_.fee_share);
        const double cost = to_asy(s_.verify_cost);
        const double watched = model_.watched();
        add(
            {.name = "verifier.participation",
             .role = "verifier",
             .parameter = "fee",
             .have = share,
             .need =
                 cost + 3.0 * to_asy(s_.transaction_fee) + lock(s_.verifier_bond + s_.per_segment * s_.challenger_bond),
             .unit = "ASY",
             .meaning = "a fee share pays for a replay, fees and locked capital",
             .help = "a higher verification fee"}
        );
        add(
            {.name = "verifier.lazy",
             .role = "verifier",
             .parameter = "verifier_bond",
             .have = to_asy(s_.verifier_bond),
             .need = std::max(0.0, over(over(costs_.safety * cost, watched) - share, burned_)),
             .unit = "ASY",
             .meaning = "what a replay costs is less than an invented probe root loses when a watcher looks",
             .help = "a higher verifier bond, more watchers, or fewer idle ones"}
        );
        add(
            {.name = "verifier.watched",
             .role = "verifier",
             .parameter = "watchers_per_verdict",
             .have = watched,
             .need = over(costs_.safety * cost, share + burned_ * to_asy(s_.verifier_bond)),
             .unit = "",
             .meaning =
                 "watchers look at an invented probe root so often that inventing one loses more than a replay costs",
             .help = "more watchers per verdict, fewer idle ones, or a higher verifier bond"}
        );
        add(
            {.name = "verifier.copy",
             .role = "verifier",
             .parameter = "verifier_bond",
             .have = to_asy(s_.verifier_bond),
             .need = std::max(0.0, 10.0 * (costs_.safety * cost - share)),
             .unit = "ASY",
             .meaning = "the fee share and the tenth for not disclosing are more than a replay costs",
             .help = "a higher verifier bond or verification fee"}
        );
    }

    void watcher() {
        const double won = s_.watchers == 0 ? 0.0 : s_.forced_rate * to_asy(s_.jackpot);
        add(
            {.name = "watcher.active",
             .role = "whistleblower",
             .parameter = "fee",
             .have = won,
             .need = needed_win(s_, costs_),
             .unit = "ASY",
             .meaning = "replaying wins a watcher more than it costs, shared with the other watchers",
             .help = "a higher verification fee, fewer watchers per verdict, or a forced error rate above 0"}
        );
        add(treasury_constraint(s_, costs_));
    }

    void challenger() {
        const double cost = to_asy(s_.dispute_cost);
        // SET-10, for so many accusers as share: what the earliest has, and each of the others.
        const double least = winner_ / (2.0 * contracts::kWinnersMax);
        const double most = winner_ / 2.0 + least;
        const double failure = s_.dispute_failure;
        add(
            {.name = "dispute.pays",
             .role = "verifier",
             .parameter = "solver_bond",
             .have = to_asy(s_.solver_bond),
             .need = std::max(over(costs_.safety * cost, most), over(cost, least)),
             .unit = "ASY",
             .meaning =
                 "the earliest accuser's share of a solver's bond pays for the dispute, and the others' cover theirs",
             .help = "a higher solver bond, or a greater winner's share"}
        );
        add(
            {.name = "watcher.dispute_pays",
             .role = "whistleblower",
             .parameter = "verifier_bond",
             .have = to_asy(s_.verifier_bond),
             .need = over(costs_.safety * cost, winner_),
             .unit = "ASY",
             .meaning = "the winner's share of a verifier's bond pays for the dispute",
             .help = "a higher verifier bond, or a greater winner's share"}
        );
        add(
            {.name = "verifier.false_rejection",
             .role = "verifier",
             .parameter = "challenger_bond",
             .have = to_asy(s_.challenger_bond),
             .need = over(costs_.safety * failure * winner_ * to_asy(s_.solver_bond), 1.0 - failure),
             .unit = "ASY",
             .meaning = "disputing honest work in the hope that its solver is offline loses money",
             .help = "a higher challenger bond, or longer dispute clocks"}
        );
        const double delay = costs_.capital_price * (to_asy(s_.reward) + to_asy(s_.solver_bond));
        add(
            {.name = "defence.pays",
             .role = "submitter",
             .parameter = "challenger_bond",
             .have = to_asy(s_.challenger_bond),
             .need = over(costs_.safety * (cost + delay), winner_),
             .unit = "ASY",
             .meaning = "an honest solver earns by every dispute it is drawn into, however many there are",
             .help = "a higher challenger bond, or a greater winner's share"}
        );
    }

    /// AVL rules, PAR-10.
    void committee() {
        const Adversary& a = costs_.adversary;
        // AVL-7: of those who have attested one is drawn for a segment. It has the download that its replay needs.
        const double drawn = to_asy(s_.fee_share - s_.verify_cost + s_.fetch_cost) - 3.0 * to_asy(s_.transaction_fee) -
                             lock(s_.verifier_bond + s_.per_segment * s_.challenger_bond);
        add(
            {.name = "committee.attests",
             .role = "verifier",
             .parameter = "attest_fee",
             .have = to_asy(attestation_fee(p_, s_)) + over(std::max(0.0, drawn), majority_of(p_.committee_seats)),
             .need = to_asy(costs_.attestation_fees + s_.fetch_cost),
             .unit = "ASY",
             .meaning =
                 "an attestation's fee, and the chance to be drawn by it, pay for its transaction and the download",
             .help = "a higher attest_fee or verification fee"}
        );
        add(
            {.name = "committee.cheap",
             .role = "solver",
             .parameter = "verifier_bond",
             .have = to_asy(p_.verifier_bond),
             .need = to_asy(10 * p_.attest_fee * p_.committee_seats),
             .unit = "ASY",
             .meaning =
                 "a committee costs the solver no more than a tenth of the least bond of the verifier that was silent",
             .help = "a higher verifier bond, a lower attest_fee, or fewer seats"}
        );
        const std::uint32_t seats = least_seats(kQuarter, kFalseConviction);
        add(
            {.name = "committee.rare",
             .role = "solver",
             .parameter = "committee_seats",
             .have = static_cast<double>(p_.committee_seats),
             .need = static_cast<double>(seats),
             .unit = "",
             .meaning =
                 "where a quarter of the stake is silent, and a tenth of the rest fails, three committees convict a "
                 "solver that serves less than once in a thousand",
             .help = "more seats"}
        );
        // Who skips all serves accomplices alone: paid where none but them is drawn, or where they are most of a
        // committee.
        const double share = static_cast<double>(a.coalition_verifiers) / a.verifiers;
        const double convicted =
            (1.0 - std::pow(share, s_.assignments)) * (1.0 - attested_falsely(p_.committee_seats, share));
        const double saved = costs_.safety * to_asy(s_.training_cost());
        add(
            {.name = "committee.withheld",
             .role = "solver",
             .parameter = "solver_bond",
             .have = to_asy(s_.solver_bond),
             .need = std::max(0.0, 2.0 * (over(saved, convicted) - to_asy(s_.net_reward()))),
             .unit = "ASY",
             .meaning =
                 "what skipping saves is less than half of the bond and the reward, which who withholds it loses",
             .help = "a higher solver bond, more seats, or a smaller coalition among verifiers"}
        );
    }

    /// Law 2 of docs/protocol/liability.md, where a coalition's verifiers are silent or its solver does not serve.
    void committee_harm() {
        const MembersPay pay = pay_of_members(p_, costs_, s_);
        const auto bound = [&](const std::string& name, const SharedLoss& loss, const std::string& meaning) {
            add(
                {.name = name,
                 .role = "verifier",
                 .parameter = "attest_fee",
                 .have = loss.own,
                 .need = loss.harm(),
                 .unit = "ASY",
                 .meaning = meaning,
                 .help = "a higher attest_fee, or more segments, whose checkpoints cost less to fetch"}
            );
        };
        bound(
            "committee.silent", loss_by_silence(s_, pay, kQuarter, s_.assignments),
            "a quarter of the stake that is silent loses as much as all honest accounts, which are paid for attesting"
        );
        bound(
            "committee.paid", loss_while_attesting(s_, pay, kQuarter, s_.assignments),
            "it does so although its own members attest and are paid"
        );
    }

    void money() {
        const Adversary& a = costs_.adversary;
        // TRM-3: a task that as few verifiers consent to as may.
        constexpr double kConsenting = 0.5;
        const double kept = std::min(1.0, static_cast<double>(a.coalition_verifiers) / a.verifiers / kConsenting);
        const std::uint32_t others = a.watchers - std::min(a.watchers, a.coalition_watchers + a.idle_watchers);
        const double won = expected_jackpot_share({a.watchers, a.coalition_watchers, others, s_.watchers});
        add(
            {.name = "collusion.empty_task",
             .role = "submitter",
             .parameter = "tax_bps",
             .have = to_asy(s_.fee_tax) + (1.0 - kept) * to_asy(s_.fee - s_.fee_tax),
             .need = costs_.safety * model_.probed_assignments() * s_.forced_rate * to_asy(s_.jackpot) * won,
             .unit = "ASY",
             .meaning = "a coalition's own task costs it more than its watchers win by it",
             .help = "a higher tax, or a smaller coalition among verifiers and watchers"}
        );
        add(
            {.name = "slash.burns",
             .role = "solver",
             .parameter = "slash_to_winner_bps",
             .have = 10'000.0 * burned_,
             .need = kLeastBurned,
             .unit = "bps",
             .meaning = "who slashes itself loses what is burned",
             .help = "a smaller winner's share"}
        );
    }

    void beacon() {
        if (s_.value() > p_.task_value_max) {
            return;
        }
        const ContributorBond need = contributor_bond_for(p_, costs_, task_);
        add(
            {.name = "beacon.draws",
             .role = "solver",
             .parameter = "contributor_bond",
             .have = to_asy(p_.contributor_bond),
             .need = need.draws,
             .unit = "ASY",
             .meaning = "withholding secrets until no draw tells costs more than what is skipped saves, "
                        "for the dearest task of this kind",
             .help = "a higher contributor bond, a lower task_value_max, or more segments checked"}
        );
        add(
            {.name = "beacon.watching",
             .role = "whistleblower",
             .parameter = "contributor_bond",
             .have = to_asy(p_.contributor_bond),
             .need = need.watching,
             .unit = "ASY",
             .meaning = "jackpots, which a withheld secret's loss bounds, are worth a watcher's replay, "
                        "for the dearest task of this kind",
             .help = "a higher contributor bond, a lower task_value_max, or more forced errors"}
        );
        const double limit = to_asy(p_.task_value_max);
        add(
            {.name = "beacon.values",
             .role = "solver",
             .parameter = "task_value_max",
             .have = need.both() > 0.0 ? limit * (to_asy(p_.contributor_bond) / need.both()) : kNever,
             .need = limit,
             .unit = "ASY",
             .meaning = "contributors' bonds protect tasks of all values that are admitted, for this kind of task",
             .help = "a lower task_value_max, or a higher contributor bond"}
        );
        add(
            {.name = "beacon.rounds",
             .role = "contributor",
             .parameter = "draw_price",
             .have = to_asy(p_.draw_price),
             .need = to_asy(draw_price_needed(costs_)),
             .unit = "ASY",
             .meaning = "who makes the beacon draw for a task pays for it what its contributors pay for their secrets",
             .help = "a higher draw_price, or fewer contributors"}
        );
    }

    /// WRK rules.
    void work() {
        if (s_.value() > p_.task_value_max) {
            return;
        }
        add(
            {.name = "work.price",
             .role = "verifier",
             .parameter = "work_price",
             .have = static_cast<double>(p_.work_price),
             .need = work_price_needed(costs_),
             .unit = "grains",
             .meaning = "the least verification fee that the chain takes pays for the hardware that its replays need",
             .help = "a higher work_price"}
        );
        add(
            {.name = "work.longest",
             .role = "submitter",
             .parameter = "replay_blocks_max",
             .have = static_cast<double>(p_.replay_blocks_max),
             .need = replay_blocks_needed(costs_, task_),
             .unit = "blocks",
             .meaning = "a segment of such tasks is not too long to be verified",
             .help = "a higher replay_blocks_max, or shorter segments"}
        );
    }

    const Setting& s_;
    const Parameters& p_;
    const Costs& costs_;
    Model model_;
    const TaskCosts& task_;
    double winner_ = 0.0;
    double burned_ = 0.0;
    double detection_ = 1.0;
    std::vector<Constraint> out_;
};

}  // namespace

double Constraint::slack() const { return need > 0.0 ? have / need : kNever; }

Constraint treasury_constraint(const Setting& setting, const Costs& costs) {
    const Model model(setting, costs);
    // What keeps one watch worth its cost while all jackpots come out of the income.
    const double outlay = over(needed_win(setting, costs), setting.forced_rate) * model.jackpots_per_task();
    return {
        .name = "treasury.sustains",
        .role = "whistleblower",
        .parameter = "tax_bps",
        .have = model.treasury_income(),
        .need = setting.watchers == 0 ? 0.0 : outlay,
        .unit = "ASY",
        .meaning = "a task's tax and fees refill the jackpots that its verdicts cost",
        .help = "a higher tax, or fewer segments checked for tasks of this value"};
}

std::vector<Constraint> check(const Parameters& parameters, const Costs& costs, const TaskCosts& task) {
    const Setting setting = make_setting(parameters, costs, task);
    return Checker(setting, parameters, costs, task).run();
}

std::vector<Constraint> check(const Parameters& parameters, const Costs& costs) {
    std::vector<Constraint> out;
    for (const TaskCosts& task : costs.tasks) {
        for (Constraint& constraint : check(parameters, costs, task)) {
            out.push_back(std::move(constraint));
        }
    }
    return out;
}

}  // namespace assay::economics
