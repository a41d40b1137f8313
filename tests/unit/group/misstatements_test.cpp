// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <tests/shard.hpp>
#include <tests/unit/group/on_chain.hpp>
#include <verifier/group/equivocation.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>

/// Groups of random shape in which members misstate what they hand over, from the first step to whoever pays for it on
/// the chain. test_misstatements --seeds N M plays a range of seeds; without it, a few.

using namespace assay;
using namespace assay::contracts;
using namespace assay::group::testing;
using adversary::Misstated;
using adversary::Misstatement;
using dispute::testing::ScalarReplay;

namespace {

constexpr std::uint64_t kQuickSeeds = 12;
constexpr std::uint32_t kSteps = 3;
constexpr std::uint32_t kKinds = 7;

using Random = std::mt19937_64;
std::uint32_t below(Random& random, std::size_t end) { return static_cast<std::uint32_t>(random() % end); }

/// A model, the true execution of it, and the layouts in which members can answer for what they send.
struct Trained {
    explicit Trained(Model of)
        : model(std::move(of)),
          truth(model.world, false, kSeed),
          segment(dispute::testing::make_claim(model.world, truth, false, 0, kSteps, kSeed)) {
        const std::vector<std::pair<const char*, std::uint32_t>> all{
            {"dp", 2},    {"tp", 2},     {"pp", 2},     {"zero1", 2},     {"zero2", 2},
            {"zero3", 2}, {"dp2tp2", 4}, {"dp2pp2", 4}, {"tp2pp2", 4},    {"dp2pp2+1f1b2", 4},
            {"pp4", 4},   {"tp4", 4},    {"dp4", 4},    {"zero1+tp2", 4}, {"zero2+pp2", 4}};
        for (const auto& [name, ranks] : all) {
            const plan::Layout layout = plan::decode_layout(name, ranks).value();
            const plan::Plan plan = plan::make_plan(model.program, layout);
            if (!plan::unstatable_node(plan, model.program.step)) {
                layouts.push_back(layout);
            }
        }
    }
    Trained(const Trained&) = delete;
    Trained& operator=(const Trained&) = delete;

    Model model;
    ScalarReplay truth;
    dispute::Claim segment;
    std::vector<plan::Layout> layouts;
};

/// What came of the groups that were played.
struct Tally {
    std::uint32_t runs = 0;
    std::map<std::string, std::uint32_t> outcomes;
    std::map<Misstatement, std::uint32_t> liars;
    std::map<Misstatement, std::uint32_t> convicted;
    std::map<std::uint32_t, std::uint32_t> chains;  ///< how many have answered: how often
    std::string text() const {
        std::ostringstream out;
        out << runs << " groups";
        for (const auto& [outcome, times] : outcomes) {
            out << ", " << outcome << " " << times;
        }
        out << "; convicted of those that lied:";
        for (const auto& [kind, times] : liars) {
            const auto found = convicted.find(kind);
            out << " " << to_string(kind) << " " << (found == convicted.end() ? 0 : found->second) << "/" << times;
        }
        out << "; accusations with so many answers:";
        for (const auto& [answers, times] : chains) {
            out << " " << answers << ": " << times;
        }
        return out.str();
    }
};

using Lies = std::map<std::uint32_t, Misstated>;

Misstated choose_lie(Random& random, Misstatement kind, std::uint64_t first_step) {
    const auto more = below(random, kSteps - first_step);
    return {.kind = kind, .first_step = first_step, .last_step = first_step + more};
}

/// One liar, or all but one, which lie about the same step.
Lies choose_lies(Random& random, std::uint32_t ranks) {
    Lies out;
    const auto first_step = below(random, kSteps);
    const bool do_collude = ranks > 2 && below(random, 3) == 0;
    const auto chosen = below(random, ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if ((rank == chosen) == do_collude) {
            continue;
        }
        const std::uint32_t kinds = do_collude ? kKinds - 1 : kKinds;  // the last one ends the session
        const auto kind = static_cast<Misstatement>(below(random, kinds));
        const bool has_before = kind != Misstatement::kStale || first_step > 0;
        out[rank] = choose_lie(random, has_before ? kind : Misstatement::kShard, first_step);
    }
    return out;
}

/// One group from its first step to the end of its task, or of what is played of it.
class Play {
  public:
    Play(Trained& trained, std::uint64_t seed, Tally& tally)
        : random_(seed),
          trained_(trained),
          tally_(tally),
          layout_(trained.layouts[below(random_, trained.layouts.size())]),
          lies_(choose_lies(random_, layout_.ranks())),
          at_(trained.model, layout_, kSteps) {}

    std::string description() const {
        std::ostringstream out;
        out << trained_.model.name << " " << plan::to_string(layout_);
        for (const auto& [rank, lie] : lies_) {
            out << ", rank " << rank << " " << to_string(lie.kind) << " " << lie.first_step << "-" << lie.last_step;
        }
        return out.str();
    }

    /// What is not as it should be; empty if nothing.
    std::string find_fault() {
        Doubles doubles;
        doubles.misstated = lies_;
        run_ = at_.train(doubles);
        ++tally_.runs;
        for (const auto& [rank, lie] : lies_) {
            ++tally_.liars[lie.kind];
        }
        if (lies_.begin()->second.kind == Misstatement::kWithhold) {
            return after_withholding();
        }
        at_.post_start();
        const std::string fault = report_equivocation();
        if (!fault.empty()) {
            return fault;
        }
        const bool is_right = run_.root == trained_.segment.after;
        if (is_right) {
            return after_right_root();
        }
        const bool do_compare = below(random_, 2) == 0;  // before they claim what they computed
        return !run_.root || do_compare ? after_comparing() : after_wrong_root();
    }

  private:
    bool is_liar(std::uint32_t rank) const { return lies_.contains(rank); }

    /// Everybody's session ends with an error that names who has left; who left because of another, leads to that one.
    std::string after_withholding() {
        ++tally_.outcomes["left"];
        const std::uint32_t liar = lies_.begin()->first;
        for (std::uint32_t rank = 0; rank < at_.ranks(); ++rank) {
            std::uint32_t blamed = rank;
            for (std::uint32_t i = 0; i < at_.ranks() && blamed != liar; ++i) {
                const auto& error = run_.rank_errors[blamed];
                if (!error || error->fault() != engine::RankFault::kGone) {
                    return "rank " + std::to_string(blamed) + " ended with: " + run_.failures[blamed];
                }
                blamed = error->rank();
            }
            if (blamed != liar) {
                return "rank " + std::to_string(rank) + " does not blame who has left";
            }
        }
        if (run_.root || group::find_first_wrong(told(), trained_.segment, trained_.truth)) {
            return "the session went on without a member, or something was wrong in it";
        }
        return check_honest();
    }

    std::vector<std::shared_ptr<const group::Told>> told() const {
        std::vector<std::shared_ptr<const group::Told>> out;
        for (const auto& ledger : run_.ledgers) {
            const auto each = ledger->told(0);
            out.insert(out.end(), each.begin(), each.end());
        }
        return out;
    }

    /// STM-7, STM-11: two honest members, or three, compare what they were told.
    std::string report_equivocation() {
        const auto found = group::find_equivocation(told());
        if (!found) {
            return {};
        }
        const auto lie = lies_.find(found->author);
        // What is stale in the step is not when the lead takes it after the step.
        const bool has_lied_twice = lie != lies_.end() && (lie->second.kind == Misstatement::kEquivocate ||
                                                           lie->second.kind == Misstatement::kStale);
        if (!has_lied_twice) {
            return "rank " + std::to_string(found->author) + " seems to have equivocated";
        }
        ++tally_.outcomes["equivocated"];
        const std::uint32_t reporter = honest_rank();
        const ReportEquivocation report{
            .task = at_.id,
            .member = at_.accounts[found->author].id,
            .one = found->one,
            .one_signature = found->one_signature,
            .other = found->other,
            .other_signature = found->other_signature};
        if (below(random_, 2) == 0 && run_.root != trained_.segment.after) {
            return {};  // the first wrong value convicts it as well
        }
        if (at_.chain.run(at_.accounts[reporter], report) != 0) {
            return "the report of two values was refused";
        }
        ++tally_.outcomes["reported"];
        return check_convicted(found->author);
    }

    std::string after_right_root() {
        ++tally_.outcomes["right root"];
        const auto convicted = at_.chain.task(at_.id).group->culprits;
        at_.post(*run_.root);
        at_.chain.end_windows(at_.id);
        contracts::test::await_state(at_.chain, at_.id, TaskState::kSettled);
        if (at_.chain.task(at_.id).group->culprits != convicted) {
            return "somebody was convicted of a right state";
        }
        for (std::uint32_t rank = 0; rank < at_.ranks() && convicted.empty(); ++rank) {
            if (at_.has(rank) != at_.had(rank)) {
                return "rank " + std::to_string(rank) + " lost something by a right state";
            }
        }
        return check_honest();
    }

    /// Members compare what they were told with their own replays, and the first that was misled accuses, an honest one
    /// or not.
    std::string after_comparing() {
        ++tally_.outcomes[run_.root ? "compared" : "diverged"];
        const std::uint32_t begin = below(random_, at_.ranks());
        for (std::uint32_t i = 0; i < at_.ranks(); ++i) {
            const std::uint32_t rank = (begin + i) % at_.ranks();
            const auto asked = accuse(at_, run_, rank, trained_.truth);
            if (!asked) {
                continue;
            }
            ++tally_.chains[answer(at_, run_, *asked, trained_.truth)];
            if (at_.chain.task(at_.id).state != TaskState::kTraining) {
                return "the task does not go on";
            }
            return check_convicted(std::nullopt);
        }
        return run_.root ? after_wrong_root() : "there is no state, and no member was told anything wrong";
    }

    std::string after_wrong_root() {
        ++tally_.outcomes["wrong root"];
        at_.post(*run_.root);
        const DisputeId disputed = at_.dispute();
        ++tally_.chains[answer(at_, run_, {.dispute = disputed}, trained_.truth)];
        if (find_dispute(at_.chain.view, disputed)->state() != DisputeState::kRefuted ||
            at_.chain.task(at_.id).state != TaskState::kConvicted) {
            return "the wrong state was not refuted";
        }
        if (!at_.chain.slashed(at_.id, Reason::kWrongVerdict).empty()) {
            return "a verifier lost its bond by a statement";
        }
        for (const contracts::test::Actor& each : at_.accounts) {
            if (at_.chain.stake(Role::kSolver, each).locked.grains != 0) {
                return "stake is locked for a task that is over";
            }
        }
        return check_convicted(std::nullopt);
    }

    /// Exactly liars have lost, and those that are on record as culprits.
    std::string check_convicted(std::optional<std::uint32_t> whom) {
        const auto culprits = at_.chain.task(at_.id).group->culprits;
        if (culprits.empty()) {
            return "nobody was convicted";
        }
        for (const std::uint8_t member : culprits) {
            if (!is_liar(member) || (whom && culprits.size() == 1 && *whom != member)) {
                return "rank " + std::to_string(member) + " was convicted";
            }
            if (at_.has(member) >= at_.had(member)) {
                return "rank " + std::to_string(member) + " was convicted and lost nothing";
            }
        }
        const auto latest = lies_.at(culprits.back()).kind;
        ++tally_.convicted[latest];
        return check_honest();
    }

    /// What the fixture has checked after each block is that no money is made or lost (LED-1).
    std::string check_honest() const {
        for (std::uint32_t rank = 0; rank < at_.ranks(); ++rank) {
            if (!is_liar(rank) && at_.has(rank) != at_.had(rank)) {
                return "rank " + std::to_string(rank) + " is honest and lost stake";
            }
        }
        return {};
    }

    std::uint32_t honest_rank() const {
        std::uint32_t rank = 0;
        while (is_liar(rank)) {
            ++rank;
        }
        return rank;
    }

    Random random_;
    Trained& trained_;
    Tally& tally_;
    plan::Layout layout_;
    Lies lies_;
    Members at_;
    GroupRun run_;
};

int count_faults(std::uint64_t first, std::uint64_t last, bool is_told, Tally& tally) {
    Trained trained[] = {Trained(small_mlp()), Trained(small_cnn()), Trained(small_gpt())};
    int faults = 0;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        Play play(trained[seed % std::size(trained)], seed, tally);
        if (is_told) {
            std::cout << "seed " << seed << ": " << play.description() << std::endl;
        }
        const std::string fault = play.find_fault();
        if (!fault.empty()) {
            std::cout << "seed " << seed << " (" << play.description() << "): " << fault << std::endl;
            ++faults;
        }
    }
    return faults;
}

}  // namespace

TEST_CASE("STM-9, STM-10, STM-11: of members that misstate in random ways some pay, and nobody else does") {
    Tally tally;
    CHECK(count_faults(1, kQuickSeeds, false, tally) == 0);
    MESSAGE(tally.text());
    CHECK_FALSE(tally.convicted.empty());
}

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    context.setAsDefaultForAssertsOutOfTestCases();
    context.setAssertHandler([](const doctest::AssertData& assertion) {
        if (assertion.m_failed) {
            std::cerr << assertion.m_file << ":" << assertion.m_line << ": " << assertion.m_expr << "\n";
            std::abort();
        }
    });
    if (argc == 4 && std::string(argv[1]) == "--seeds") {
        const assay::test::Seeds seeds = assay::test::seeds_of(
            assay::test::shard_from_environment(), std::strtoull(argv[2], nullptr, 10),
            std::strtoull(argv[3], nullptr, 10)
        );
        Tally tally;
        const int faults = count_faults(seeds.first, seeds.last, std::getenv("ASSAY_VERBOSE") != nullptr, tally);
        std::cout << tally.text() << std::endl;
        return faults == 0 ? 0 : 1;
    }
    return context.run();
}
