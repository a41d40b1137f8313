// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/world.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::economics {
namespace {

struct Assignment {
    std::uint32_t segment = 0;
    std::uint32_t verifier = 0;
    bool accepts = true;
    bool invented = false;  ///< the probe root is not what a replay gives
    bool broken = false;    ///< the commitment cannot be opened
    bool counts = true;     ///< earns its share of the fee
};

/// The play of one task, phase by phase.
class Play {
  public:
    Play(Ledger& ledger, const Setting& setting, const Costs& costs, const Round& round, Random& random)
        : ledger_(ledger), s_(setting), costs_(costs), round_(round), random_(random) {}

    Outcome run() {
        if (!seat_parties()) {
            return out_;
        }
        solve();
        draw();
        verify();
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            if (drawn_[i].segment > 0 && drawn_[i].accepts) {  // a rejection has no probe: it stakes a dispute
                watch(i);
            }
        }
        dispute();
        settle();
        ASSERT(ledger_.escrow == 0 && ledger_.total() == ledger_.supply);
        return out_;
    }

  private:
    Agent& agent(std::uint32_t id) { return ledger_.agents[id]; }

    void pay(std::uint32_t id, Grains amount, Grains& to) {
        agent(id).balance -= amount;
        to += amount;
    }
    void pay_transactions(std::uint32_t id, std::uint32_t count) {
        pay(id, s_.transaction_fee * count, ledger_.treasury);
    }
    void spend(std::uint32_t id, Grains amount) { pay(id, amount, ledger_.spent); }

    void slash(std::uint32_t loser, Grains amount, std::optional<std::uint32_t> winner) {
        const Grains share = winner.has_value() ? s_.winners_share(amount) : 0;
        pay(loser, amount - share, ledger_.burned);
        if (winner.has_value()) {
            pay(loser, share, agent(*winner).balance);
        }
    }

    std::vector<std::uint32_t> pick(Role role, Grains least, std::uint32_t count, std::uint32_t except = kAnybody) {
        return ledger_.pick(random_, role, least, count, except);
    }

    bool seat(std::uint32_t& id, std::uint32_t wanted, Role role, Grains least) {
        if (wanted != kAnybody) {
            id = wanted;
            return true;
        }
        const std::vector<std::uint32_t> found = pick(role, least, 1);
        id = found.empty() ? kAnybody : found[0];
        return !found.empty();
    }

    bool seat_parties() {
        const Grains fees = s_.transaction_fee * (s_.solver_transactions + 1);
        return seat(submitter_, round_.submitter, Role::kSubmitter, s_.value() + fees) &&
               seat(solver_, round_.solver, Role::kSolver, s_.solver_bond + s_.training_cost() + fees);
    }

    void solve() {
        pay_transactions(submitter_, 1);
        pay(submitter_, s_.value(), ledger_.escrow);
        work_ = round_.work.has_value() ? *round_.work : usual_work(agent(solver_).strategy, s_, costs_);
        pay_transactions(solver_, s_.solver_transactions);
        spend(solver_, work_.cost);
        out_.solver_was_wrong = work_.wrong > 0 || work_.wrong_initialisation;
        wrong_.assign(s_.segments + 1, false);
        wrong_[0] = work_.wrong_initialisation;
        std::vector<std::uint32_t> all(s_.segments);
        for (std::uint32_t i = 0; i < s_.segments; ++i) {
            all[i] = i + 1;
        }
        for (std::uint32_t i = 0; i < work_.wrong; ++i) {
            std::swap(all[i], all[i + random_.below(s_.segments - i)]);
            wrong_[all[i]] = true;
        }
    }

    void draw_once() {
        drawn_.clear();
        std::vector<std::uint32_t> all(s_.segments + 1);
        for (std::uint32_t i = 0; i <= s_.segments; ++i) {
            all[i] = i;
        }
        for (std::uint32_t i = 0; i < s_.checked; ++i) {
            std::swap(all[i], all[i + random_.below(s_.segments + 1 - i)]);
            const Grains bonds = (s_.verifier_bond + s_.challenger_bond) * s_.assignments + s_.verify_cost;
            for (const std::uint32_t verifier : pick(Role::kVerifier, bonds, s_.per_segment)) {
                drawn_.push_back({.segment = all[i], .verifier = verifier});
            }
        }
        if (round_.verifier != kAnybody) {
            drawn_[0].verifier = round_.verifier;
            if (drawn_[0].segment == 0) {
                drawn_[0].segment = s_.checked <= s_.segments ? all[s_.checked] : s_.segments;
            }
        }
        told_.assign(s_.segments + 1, false);
        for (const Assignment& a : drawn_) {
            told_[a.segment] = random_.chance(wrong_[a.segment] ? work_.detection : costs_.false_rejection);
        }
    }

    bool draw_tells() const {
        return std::any_of(drawn_.begin(), drawn_.end(), [this](const Assignment& a) {
            const Strategy strategy = ledger_.agents[a.verifier].strategy;
            return told_[a.segment] && strategy != Strategy::kLazy && strategy != Strategy::kCoalition;
        });
    }

    /// Draws by one seed after another, with all secrets, without one of the accomplices', without two, until one is
    /// good; `owner` pays for what is withheld. Without a good one nothing is.
    template <class Draw>
    void choose_seed(std::uint32_t contributors, std::uint32_t owner, const Draw& draw_is_good) {
        for (std::uint32_t withheld = 0; withheld <= contributors; ++withheld) {
            for (std::uint32_t set = 0; set < 1U << contributors; ++set) {
                if (std::popcount(set) == static_cast<int>(withheld) && draw_is_good()) {
                    pay(owner, s_.withholding * withheld, ledger_.burned);
                    return;
                }
            }
        }
    }

    void draw() {
        choose_seed(work_.contributors, solver_, [this] {
            draw_once();
            return !draw_tells();
        });
    }

    void verify() {
        const bool partners = agent(solver_).strategy == Strategy::kCoalition;
        for (Assignment& a : drawn_) {
            pay_transactions(a.verifier, 3);
            const bool trained = a.segment > 0;
            switch (agent(a.verifier).strategy) {
                case Strategy::kLazy:
                    a.invented = trained;
                    break;
                case Strategy::kCopying:
                    a.invented = trained;
                    a.broken = true;
                    break;
                case Strategy::kRejecting:
                    spend(a.verifier, trained ? s_.verify_cost : 0);
                    a.accepts = false;
                    break;
                case Strategy::kCoalition:
                    if (partners) {  // only the states at its marks cannot be had from the solver
                        spend(a.verifier, trained ? s_.verify_cost : 0);
                        break;
                    }
                    [[fallthrough]];
                default:
                    spend(a.verifier, trained ? s_.verify_cost : 0);
                    a.accepts = !told_[a.segment];
                    break;
            }
        }
    }

    /// Whether the verdict is forced, and who watches it.
    std::pair<bool, std::vector<std::uint32_t>> lottery(std::size_t index) {
        const bool seated = index == 0;
        std::vector<std::uint32_t> watchers;
        bool forced = false;
        choose_seed(seated ? round_.contributors : 0, drawn_[index].verifier, [&] {
            forced = random_.chance(s_.forced_rate);
            const bool bound = seated && round_.watcher != kAnybody && s_.watchers > 0;
            watchers = pick(
                Role::kWatcher, s_.challenger_bond + s_.verify_cost, s_.watchers - (bound ? 1 : 0),
                bound ? round_.watcher : kAnybody
            );
            if (bound) {
                watchers.push_back(round_.watcher);
            }
            const auto ours = [this](std::uint32_t id) { return agent(id).strategy == Strategy::kCoalition; };
            return forced && std::any_of(watchers.begin(), watchers.end(), ours);
        });
        return {forced, watchers};
    }

    struct Challenges {
        std::vector<std::uint32_t> all;
        std::vector<std::uint32_t> replayed;  ///< of them, who know the true root
        std::vector<std::uint32_t> tipped;    ///< of them, who were told what the verdict was committed to
        /// VER-16: whose seal is of the root that is disclosed.
        std::vector<std::uint32_t> winners(bool invented) const {
            std::vector<std::uint32_t> out = tipped;
            if (!invented) {
                out.insert(out.end(), replayed.begin(), replayed.end());
            }
            return out;
        }
    };

    Challenges challenges(const Assignment& a, bool forced, const std::vector<std::uint32_t>& watchers) {
        Challenges out;
        const bool wrong = forced || a.invented;
        const Strategy judge = agent(a.verifier).strategy;
        const bool deviating = judge == Strategy::kLazy || judge == Strategy::kCopying;
        const bool tipping = judge == Strategy::kCoalition || (deviating && round_.self_challenge);
        const double probe = random_.chance(kLastMark) ? 1.0 : random_.unit();
        std::vector<std::uint32_t> followers;
        for (const std::uint32_t id : watchers) {
            const Strategy strategy = agent(id).strategy;
            if (strategy == Strategy::kIdle) {
                continue;
            }
            if (strategy == Strategy::kFollowing) {
                followers.push_back(id);
            } else if (strategy == Strategy::kBlind) {
                out.all.push_back(id);
            } else if (strategy == Strategy::kCoalition && tipping) {
                if (forced) {
                    out.all.push_back(id);
                    out.tipped.push_back(id);
                }
            } else {
                spend(id, s_.watch_cost(probe));
                if (wrong) {
                    out.all.push_back(id);
                    out.replayed.push_back(id);
                }
            }
        }
        if (!out.all.empty()) {
            out.all.insert(out.all.end(), followers.begin(), followers.end());
        }
        for (const std::uint32_t id : out.all) {
            pay_transactions(id, 1);
        }
        return out;
    }

    void pay_jackpot(const std::vector<std::uint32_t>& winners) {
        if (winners.empty()) {
            return;
        }
        const Grains jackpot = std::min(ledger_.treasury / 3, s_.jackpot);
        const std::size_t halvings = std::min<std::size_t>(winners.size() - 1, 62);
        const Grains each = jackpot >> halvings;
        for (const std::uint32_t id : winners) {
            ledger_.treasury -= each;
            agent(id).balance += each;
            out_.paid_in_jackpots += each;
        }
        ++out_.jackpots;
    }

    void convict_verifier(std::size_t index, std::uint32_t challenger) {
        Assignment& a = drawn_[index];
        std::uint32_t winner = challenger;
        if (index == 0 && round_.self_challenge) {
            pay_transactions(a.verifier, 1);
            winner = a.verifier;
        }
        slash(a.verifier, s_.verifier_bond, winner);
        a.counts = false;
        a.broken = false;
        out_.seat_slashed = out_.seat_slashed || index == 0;
    }

    void watch(std::size_t index) {
        Assignment& a = drawn_[index];
        const auto [forced, watchers] = lottery(index);
        const Challenges made = challenges(a, forced, watchers);
        out_.forced += forced ? 1 : 0;
        if (index == 0) {
            out_.seat_forced = forced;
            out_.seat_challenged = std::find(made.all.begin(), made.all.end(), round_.watcher) != made.all.end();
            const std::vector<std::uint32_t> winners = made.winners(a.invented);
            out_.seat_won = forced && std::find(winners.begin(), winners.end(), round_.watcher) != winners.end();
        }
        if (forced) {
            if (index == 0 && round_.tipped_sybils > 0) {
                pay_transactions(a.verifier, round_.tipped_sybils);  // none of them was drawn: nothing is won
            }
            pay_jackpot(made.winners(a.invented));
            if (a.invented && !made.replayed.empty()) {  // the second result is checked too
                convict_verifier(index, made.replayed[random_.below(static_cast<std::uint32_t>(made.replayed.size()))]);
            }
        } else if (a.invented) {
            if (!made.all.empty()) {
                convict_verifier(index, made.all[random_.below(static_cast<std::uint32_t>(made.all.size()))]);
            }
        } else {
            for (const std::uint32_t id : made.all) {
                slash(id, s_.challenger_bond, a.verifier);
                ++out_.disputes_lost;
            }
        }
    }

    /// Whether the honest party of a dispute loses it.
    bool dispute_fails() {
        if (!work_.stalling) {
            return random_.chance(s_.dispute_failure);
        }
        for (std::uint32_t move = 0; move < costs_.dispute_moves; ++move) {
            std::uint32_t blocks = costs_.response_blocks + 1;
            while (blocks <= s_.extension_blocks && random_.chance(costs_.inclusion_failure)) {
                ++blocks;
            }
            if (blocks > s_.extension_blocks) {
                return true;
            }
        }
        return false;
    }

    void convict(std::optional<std::uint32_t> winner) {
        if (!out_.convicted) {
            out_.convicted = true;
            winner_ = winner;
        }
    }

    void dispute_verdict(Assignment& a) {
        if (!wrong_[a.segment] && !told_[a.segment]) {  // a false accusation
            spend(a.verifier, s_.dispute_cost);
            spend(solver_, s_.dispute_cost);
            if (random_.chance(s_.dispute_failure)) {
                refuted_[a.segment] = true;
                convict(a.verifier);
                return;
            }
            slash(a.verifier, s_.challenger_bond, solver_);
            a.counts = false;
            ++out_.disputes_lost;
            return;
        }
        if (refuted_[a.segment] || disputed_[a.segment]) {
            return;
        }
        disputed_[a.segment] = true;
        const bool playable = !work_.withheld && costs_.mode == Mode::kExact;
        if (playable) {
            spend(a.verifier, s_.dispute_cost);
            if (dispute_fails()) {
                slash(a.verifier, s_.challenger_bond, solver_);
                a.counts = false;
                return;
            }
        }
        refuted_[a.segment] = !work_.withheld;  // of missing data no verifier is blamed
        // What the measured distance refutes falsely was nobody's discovery.
        convict(wrong_[a.segment] ? std::optional(a.verifier) : std::nullopt);
    }

    void flood(std::uint32_t sybil) {
        for (std::uint32_t i = 0; i < round_.floods; ++i) {
            pay_transactions(sybil, 1);
            spend(solver_, s_.dispute_cost);
            if (random_.chance(s_.dispute_failure)) {
                convict(sybil);
            } else {
                slash(sybil, s_.challenger_bond, solver_);
                ++out_.disputes_lost;
            }
        }
    }

    void dispute() {
        refuted_.assign(s_.segments + 1, false);
        disputed_.assign(s_.segments + 1, false);
        if (work_.self_slashing) {
            pay_transactions(solver_, 1);
            convict(solver_);
            return;  // everything else is moot
        }
        for (Assignment& a : drawn_) {
            if (!a.accepts && a.counts) {
                dispute_verdict(a);
            }
        }
        for (std::uint32_t id = 0; id < ledger_.agents.size(); ++id) {
            if (agent(id).role == Role::kSybil && agent(id).balance >= s_.challenger_bond * round_.floods) {
                flood(id);
                break;
            }
        }
    }

    void settle_conviction() {
        std::optional<std::uint32_t> winner = winner_;
        if (round_.self_challenge && out_.solver_was_wrong && round_.work.has_value()) {
            pay_transactions(solver_, 1);
            winner = solver_;
        }
        slash(solver_, s_.solver_bond, winner);
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            Assignment& a = drawn_[i];
            if (a.accepts && refuted_[a.segment]) {
                slash(a.verifier, s_.verifier_bond, winner);
                a.counts = false;
                out_.seat_slashed = out_.seat_slashed || i == 0;
            }
        }
    }

    void settle() {
        if (out_.convicted) {
            settle_conviction();
        }
        std::uint32_t earners = 0;
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            Assignment& a = drawn_[i];
            if (a.broken) {  // not disclosed: a tenth, all of it burned
                slash(a.verifier, s_.verifier_bond / 10, std::nullopt);
                a.counts = false;
                out_.seat_slashed = out_.seat_slashed || i == 0;
            }
            earners += a.counts ? 1 : 0;
        }
        const Grains fees = s_.fee - s_.fee_tax;
        const Grains share = earners == 0 ? 0 : out_.convicted ? s_.fee_share : fees / earners;
        for (const Assignment& a : drawn_) {
            if (a.counts) {
                ledger_.escrow -= share;
                agent(a.verifier).balance += share;
            }
        }
        // What does not divide goes to the treasury; what nobody earned goes back.
        Grains taxes = earners == 0 ? 0 : s_.fee_tax + (out_.convicted ? 0 : fees - share * earners);
        if (!out_.convicted) {
            ledger_.escrow -= s_.net_reward();
            agent(solver_).balance += s_.net_reward();
            taxes += s_.reward_tax;
        }
        ledger_.escrow -= taxes;
        ledger_.treasury += taxes;
        agent(submitter_).balance += ledger_.escrow;
        ledger_.escrow = 0;
    }

    Ledger& ledger_;
    const Setting& s_;
    const Costs& costs_;
    const Round& round_;
    Random& random_;
    std::uint32_t submitter_ = 0;
    std::uint32_t solver_ = 0;
    std::optional<std::uint32_t> winner_;
    SolverWork work_;
    std::vector<bool> wrong_;
    std::vector<bool> told_;
    std::vector<bool> refuted_;
    std::vector<bool> disputed_;
    std::vector<Assignment> drawn_;
    Outcome out_;
};

}  // namespace

Outcome play(Ledger& ledger, const Setting& setting, const Costs& costs, const Round& round, Random& random) {
    return Play(ledger, setting, costs, round, random).run();
}

}  // namespace assay::economics
