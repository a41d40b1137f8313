// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <tests/liability/arena.hpp>
#include <tests/shard.hpp>
#include <tests/unit/consensus/toy_machine.hpp>

/// test_liability --seed N shows one run, --quiet N the same network without its attackers; --seeds A B runs a range
/// and ends with one line of figures, --search A B ends at the first seed that breaks a law, --messages N when
/// attackers have sent so many. --fork SEED BLOCK silence|last|full shows one run up to a block, and then how the
/// attackers go on. Before these, --plan NAME gives every seed that plan, --forks none|few|new|every says at which
/// blocks honest replies are played on copies.

using namespace assay;
using namespace assay::liability;

namespace {

constexpr std::uint64_t kQuickSeeds = 22;   ///< each plan of a seed once
constexpr std::uint64_t kPrivateSeeds = 6;  ///< of each of three plans
constexpr std::uint64_t kVotersSeeds = 6;   ///< with and without more than two thirds of the power
constexpr std::uint64_t kThiefSeeds = 6;
constexpr std::uint64_t kMobSeeds = 4;
constexpr float kNoise = 0.1F;

Report run_one(model::Workshop& shop, std::uint64_t seed, const Options& options) {
    const solo::test::TemporaryDirectory home;
    return play(shop, seed, home.path(), options);
}

/// The run with the attackers, and law 2 by what the one without them came to.
Report run_both(model::Workshop& shop, std::uint64_t seed, Options options) {
    options.attacks = true;
    Report attacked = run_one(shop, seed, options);
    if (!attacked.broken.empty()) {
        return attacked;
    }
    options.attacks = false;
    const Report quiet = run_one(shop, seed, options);
    if (!quiet.broken.empty()) {
        attacked.broken = "without attackers: " + quiet.broken;
        return attacked;
    }
    attacked.difference = difference_of(quiet.balance, attacked.balance);
    if (attacked.difference > std::max<std::int64_t>(attacked.balance.paid, 0)) {
        attacked.broken = "law 2: honest accounts have " + std::to_string(attacked.difference) +
                          " grains less than without the attackers, who paid " + std::to_string(attacked.balance.paid);
    }
    return attacked;
}

void add(Report& sum, const Report& report) {
    sum.blocks += report.blocks;
    sum.attacks += report.attacks;
    sum.effective += report.effective;
    sum.forks += report.forks;
    sum.fork_blocks += report.fork_blocks;
    sum.unfinished += report.unfinished;
    sum.balance.paid += report.balance.paid;
    sum.balance.harm += report.balance.harm;
    sum.balance.chance += report.balance.chance;
    sum.difference += report.difference;
    for (const auto& [name, count] : report.outcomes) {
        sum.outcomes[name] += count;
    }
    for (const auto& [name, count] : report.executed) {
        sum.executed[name] += count;
    }
}

std::uint64_t count(const Report& report, const char* outcome) {
    const auto found = report.outcomes.find(outcome);
    return found == report.outcomes.end() ? 0 : found->second;
}

void show(const Report& report) {
    for (const auto& [name, count] : report.outcomes) {
        std::cout << "  " << name << ": " << count << "\n";
    }
    for (const auto& [name, count] : report.executed) {
        std::cout << "  executed " << name << ": " << count << "\n";
    }
}

struct Range {
    std::uint64_t first = 1;
    std::uint64_t last = ~std::uint64_t{0} - 1;
    std::uint64_t messages = ~std::uint64_t{0};  ///< of attackers; ends when there were as many
    bool searches = false;                       ///< ends at the first seed that breaks a law
};

/// How many seeds broke a law.
int run_range(const Range& range, const Options& options) {
    model::Workshop shop(kNoise);
    Report sum;
    int broken = 0;
    std::uint64_t seed = range.first;
    const auto start = std::chrono::steady_clock::now();
    for (; seed <= range.last && sum.attacks < range.messages && !(range.searches && broken != 0); ++seed) {
        const Report report = run_both(shop, seed, options);
        if (!report.broken.empty()) {
            std::cout << "test_liability --seed " << seed << " (" << to_string(options.plan.value_or(plan_of(seed)))
                      << "): " << report.broken << std::endl;
            ++broken;
        }
        add(sum, report);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    show(sum);
    std::cout << seed - range.first << " seeds, " << sum.blocks << " blocks, " << sum.attacks
              << " messages of attackers, " << sum.effective << " executed, " << sum.forks << " continuations of "
              << sum.fork_blocks << " blocks, " << sum.unfinished << " not to their ends, attackers paid "
              << sum.balance.paid << " grains, honest accounts lost " << sum.balance.harm
              << ", by the difference of two runs " << sum.difference << ", by chance " << sum.balance.chance << ", "
              << broken << " broken, " << took.count() << " s\n";
    return broken;
}

Forks forks_named(const std::string& name) {
    for (const auto& [forks, known] : std::vector<std::pair<Forks, std::string>>{
             {Forks::kNone, "none"}, {Forks::kFew, "few"}, {Forks::kNew, "new"}, {Forks::kEvery, "every"}}) {
        if (known == name) {
            return forks;
        }
    }
    std::cerr << "forks are none, few, new or every, not " << name << "\n";
    std::exit(2);
}

Continuation continuation_named(const std::string& name) {
    for (const Continuation continuation : kContinuations) {
        if (to_string(continuation) == name) {
            return continuation;
        }
    }
    std::cerr << "a continuation is silence, last or full, not " << name << "\n";
    std::exit(2);
}

PlanKind plan_named(const std::string& name) {
    for (std::uint64_t number = 0; number < kPlans; ++number) {
        if (to_string(static_cast<PlanKind>(number)) == name) {
            return static_cast<PlanKind>(number);
        }
    }
    std::cerr << "there is no plan " << name << "\n";
    std::exit(2);
}

/// The sum of the seeds' reports, none of which may break a law.
Report play(PlanKind plan, std::uint64_t seeds) {
    model::Workshop shop(kNoise);
    Options options;
    options.plan = plan;
    options.forks = Forks::kNone;
    Report sum;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        const Report report = run_both(shop, seed, options);
        CHECK(report.broken == std::string());
        add(sum, report);
    }
    return sum;
}

}  // namespace

TEST_CASE("Laws 1 to 3 hold whatever attackers send") { CHECK(run_range({.last = kQuickSeeds}, {}) == 0); }

TEST_CASE("GOV-6: votes take nothing from whoever is under way, and two thirds of the power pass none") {
    const Report sum = play(PlanKind::kVoters, kVotersSeeds);
    for (const char* outcome :
         {"vote: passed parameters", "vote: passed an upgrade", "vote: passed a halt", "vote: dropped with two thirds",
          "went on after a halt", "task: settled"}) {
        CAPTURE(outcome);
        CHECK(count(sum, outcome) > 0);
    }
}

TEST_CASE("PRV-4, PRV-5, PRV-7, PRV-11: who keeps or falsifies what readers need loses, and nobody who was given it") {
    model::Workshop shop(kNoise);
    Report sum;
    for (const PlanKind plan : {PlanKind::kKeeper, PlanKind::kTeaser, PlanKind::kReader}) {
        Options options;
        options.plan = plan;
        options.forks = Forks::kNone;
        for (std::uint64_t seed = 1; seed <= kPrivateSeeds; ++seed) {
            CAPTURE(to_string(plan));
            CAPTURE(seed);
            const Report report = run_both(shop, seed, options);
            CHECK(report.broken == std::string());
            CHECK((plan != PlanKind::kReader || report.balance.chance == 0));  // it decides no committee
            add(sum, report);
        }
    }
    for (const char* outcome :
         {"the attacker slashed for keys_withheld", "the attacker slashed for wrong_keys",
          "the attacker slashed for wrong_chunk", "task: settled"}) {
        CAPTURE(outcome);
        CHECK(count(sum, outcome) > 0);
    }
}

TEST_CASE("OPR-3: a stolen operator's key takes bonds of its owner and nothing else until another is named (OPR-5)") {
    model::Workshop shop(kNoise);
    Options options;
    options.plan = PlanKind::kThief;
    options.forks = Forks::kNone;
    Report sum;
    for (std::uint64_t seed = 1; seed <= kThiefSeeds; ++seed) {
        CAPTURE(seed);
        const Report report = run_both(shop, seed, options);
        CHECK(report.broken == std::string());
        CHECK(count(report, "the owner has replied") == 1);
        add(sum, report);
    }
    for (const char* outcome :
         {"the thief: accept_task", "the thief: post_checkpoint", "the thief: commit_verdict",
          "the thief: publish_verdict", "the thief: open_dispute", "the thief: join_beacon",
          "the owner lost a bond for missed_deadline", "the owner lost a bond for missed_verdict",
          "the owner lost a bond for dispute_timeout"}) {
        CAPTURE(outcome);
        CHECK(count(sum, outcome) > 0);
    }
}

TEST_CASE("DSP-32: a solver with one machine answers false disputes of all its segments at once") {
    const Report sum = play(PlanKind::kMob, kMobSeeds);
    CHECK(count(sum, "a task was disputed in all segments") >= kMobSeeds);
    CHECK(count(sum, "the attacker slashed for false_accusation") >= 3 * kMobSeeds);
}

TEST_CASE("Law 1: a seed gives the same run each time") {
    model::Workshop shop(kNoise);
    for (const std::uint64_t seed : {2ULL, 7ULL}) {
        Options options;
        options.forks = Forks::kNone;
        const Report first = run_one(shop, seed, options);
        const Report again = run_one(shop, seed, options);
        CHECK(first.blocks == again.blocks);
        CHECK(first.attacks == again.attacks);
        CHECK(first.balance.paid == again.balance.paid);
        CHECK(first.balance.harm == again.balance.harm);
        CHECK(first.balance.standing == again.balance.standing);
    }
}

int main(int argc, char** argv) {
    // The toy program checks itself, also where no test case runs.
    doctest::Context context(argc, argv);
    context.setAsDefaultForAssertsOutOfTestCases();
    context.setAssertHandler([](const doctest::AssertData& assertion) {
        if (assertion.m_failed) {
            std::cerr << assertion.m_file << ":" << assertion.m_line << ": " << assertion.m_expr << "\n";
            std::abort();
        }
    });
    Options options;
    std::vector<std::string> words(argv + 1, argv + argc);
    while (words.size() > 2 && (words.front() == "--plan" || words.front() == "--forks")) {
        if (words.front() == "--plan") {
            options.plan = plan_named(words[1]);
        } else {
            options.forks = forks_named(words[1]);
        }
        words.erase(words.begin(), words.begin() + 2);
    }
    const std::string option = words.empty() ? "" : words.front();
    const auto number = [&](std::size_t at) { return std::strtoull(words[at].c_str(), nullptr, 10); };
    const bool is_fork = option == "--fork" && words.size() == 4;
    if (((option == "--seed" || option == "--quiet") && words.size() == 2) || is_fork) {
        model::Workshop shop(kNoise);
        options.trace = true;
        if (is_fork) {
            options.fork_at = {number(2), continuation_named(words[3])};
        }
        options.attacks = option != "--quiet";
        const Report report = run_one(shop, number(1), options);
        show(report);
        std::cout << "paid " << report.balance.paid << ", harm " << report.balance.harm << "; "
                  << (report.broken.empty() ? "every law holds" : report.broken) << "\n";
        return report.broken.empty() ? 0 : 1;
    }
    if (option == "--messages" && words.size() == 2) {
        const test::Shard shard = test::shard_from_environment();
        const Range range{.first = test::first_seed_of(shard), .messages = test::part_of(shard, number(1))};
        return run_range(range, options) == 0 ? 0 : 1;
    }
    if ((option == "--seeds" || option == "--search") && words.size() == 3) {
        const test::Seeds seeds = test::seeds_of(test::shard_from_environment(), number(1), number(2));
        const Range range{.first = seeds.first, .last = seeds.last, .searches = option == "--search"};
        return run_range(range, options) == 0 ? 0 : 1;
    }
    return context.run();
}
