// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <contracts/state/members.hpp>
#include <core/dispute/player.hpp>
#include <tests/adversary/fraud.hpp>
#include <tests/shard.hpp>
#include <tests/unit/worker/small_task.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/plan/turns.hpp>
#include <verifier/worker/dispute_player.hpp>
#include <verifier/worker/replay.hpp>

/// Groups that train local replicas, in which one member cheats. test_group_frauds --seeds N M plays a range of seeds
/// of each kind of fraud; without it, a few.

using namespace assay;
using adversary::Dishonesty;
using adversary::Fraud;
using canonical::Tensor;

namespace {

constexpr std::uint64_t kQuickSeeds = 4;
constexpr std::uint32_t kRounds = 2;
constexpr Dishonesty kKinds[] = {
    Dishonesty::kTile, Dishonesty::kSkip, Dishonesty::kStale, Dishonesty::kOuter, Dishonesty::kFold};

using Random = std::mt19937_64;
std::uint32_t below(Random& random, std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

program::LocalReplicas choose_replicas(Random& random) {
    program::LocalReplicas local{.count = 2 + below(random, 3), .turn_steps = 2 + below(random, 3)};
    local.sent = static_cast<program::SentForm>(1 + below(random, 3));
    local.block = 8;
    local.outer_momentum = below(random, 2) == 0 ? 0.0F : 0.5F;
    local.fragments = 1 + below(random, 2);
    return local;
}

test::SmallTask make_task(const program::LocalReplicas& local, std::uint64_t seed) {
    return test::SmallTask(
        test::Start::kRandom, test::kSmallText,
        [&](program::Program& model, contracts::TaskSpec& spec) {
            model = program::with_local_replicas(model, local).value();
            spec.seed = seed;
            spec.members = static_cast<decltype(spec.members)>(local.count);
            spec.checkpoint_interval = local.turn_steps;
            spec.steps = std::uint64_t{kRounds} * local.count * local.turn_steps;
        }
    );
}

/// The task in the hands of a group with a seat for each replica.
contracts::Task held_by_group(const contracts::TaskSpec& spec, std::uint32_t members) {
    contracts::Task task;
    task.spec = spec;
    task.group.emplace();
    for (std::uint32_t i = 0; i < members; ++i) {
        AccountId account;
        account.data[0] = static_cast<std::uint8_t>(i + 1);
        if (i == 0) {
            task.solver = account;
        } else {
            task.group->partners.push_back({account, {}});
        }
        task.group->seats.push_back(static_cast<std::uint8_t>(i));
    }
    return task;
}

/// The dispute of a claim, to its end.
Result<dispute::Ruling, dispute::ProofError> play(
    const dispute::Claim& claim, dispute::Replay& responder, dispute::Replay& challenger
) {
    dispute::Position position = dispute::start_position(claim);
    const auto tx_of = [](contracts::Action action) {
        contracts::Tx tx;
        tx.body.action = std::move(action);
        return tx;
    };
    std::vector<contracts::Tx> moves{tx_of(contracts::OpenDispute{})};
    while (!position.is_at_proof()) {
        if (position.pending().empty()) {
            const contracts::RevealMove move{
                .dispute = {}, .round = position.rounds, .children = dispute::make_reveal(claim, position, responder)};
            position = dispute::reveal(claim, position, move.children).value();
            moves.push_back(tx_of(move));
        } else {
            const contracts::SelectMove move{
                .dispute = {},
                .round = position.rounds,
                .selection = dispute::make_selection(claim, position, challenger)};
            position = dispute::select(claim, position, move.selection).value();
            moves.push_back(tx_of(move));
        }
    }
    const auto reveals = worker::node_reveals(claim, moves);
    return dispute::judge(claim, position, dispute::make_proof(claim, position, challenger, reveals));
}

dispute::Claim claim_of(
    const test::SmallTask& task, std::uint32_t segment, const std::vector<Tensor>& before,
    const std::vector<Tensor>& after
) {
    dispute::Claim claim;
    claim.program = task.spec.program;
    claim.dataset_root = task.spec.dataset_root;
    claim.seed = task.spec.seed;
    claim.initialisation = false;
    claim.first_step = task.artifacts->first_step(segment);
    claim.step_count = static_cast<std::uint32_t>(task.artifacts->step_count(segment));
    claim.before = artifacts::state_root_of(before);
    claim.after = artifacts::state_root_of(after);
    return claim;
}

std::vector<Tensor> end_of(
    const test::SmallTask& task, std::uint32_t segment, const std::vector<Tensor>& before,
    const std::shared_ptr<const Fraud>& fraud
) {
    const auto end = worker::run_segment(task.artifacts, segment, before, {}, fraud).value();
    REQUIRE_FALSE(end.diverged_at.has_value());
    return end.state;
}

/// What a member that trains its turn from what the round began with has of its own is what the same turn leaves after
/// those before it.
bool is_same_ahead(
    const test::SmallTask& task, std::uint32_t segment, const std::vector<Tensor>& round_start,
    const std::vector<Tensor>& after, const std::shared_ptr<const Fraud>& fraud
) {
    const plan::Turns turns = plan::find_turns(task.artifacts->program).value();
    const std::uint32_t replica = (segment - 1) % turns.replicas;
    std::vector<Tensor> start = round_start;
    for (const auto& [tensor, source] : turns.worked[replica]) {
        start[tensor] = round_start[source];
    }
    const std::vector<Tensor> ahead = end_of(task, segment, start, fraud);
    const auto& own = turns.own[replica];
    return std::all_of(own.begin(), own.end(), [&](std::uint32_t tensor) { return ahead[tensor] == after[tensor]; });
}

/// What is not as it should be in a group of which one member cheats in the second round; empty if nothing.
std::string find_fault(Dishonesty kind, std::uint64_t seed) {
    Random random(seed * 31 + static_cast<std::uint64_t>(kind));
    const program::LocalReplicas local = choose_replicas(random);
    const test::SmallTask task = make_task(local, 1 + below(random, 1'000));
    const bool is_of_outer_step = kind == Dishonesty::kOuter || kind == Dishonesty::kFold;
    const std::uint32_t rank = is_of_outer_step ? local.count - 1 : below(random, local.count);
    const contracts::Task held = held_by_group(task.spec, local.count);
    const std::uint64_t step = std::uint64_t{local.count + rank} * local.turn_steps + below(random, local.turn_steps);
    const auto fraud = std::make_shared<const Fraud>(kind, task.artifacts, step);
    const AccountId culprit = contracts::member_account(held, static_cast<std::uint8_t>(rank));

    std::vector<std::vector<Tensor>> posted{task.state_after(0)};
    bool is_found = false;
    for (std::uint32_t segment = 1; segment <= kRounds * local.count; ++segment) {
        const std::vector<Tensor>& before = posted.back();
        const std::vector<Tensor> truth = end_of(task, segment, before, nullptr);
        const bool is_culprits = contracts::owner_of(held, segment) == culprit && segment > local.count;
        const std::vector<Tensor> claimed = is_culprits ? end_of(task, segment, before, fraud) : truth;
        if ((claimed != truth) != is_culprits) {
            return "segment " + std::to_string(segment) + " is " + (is_culprits ? "right" : "wrong");
        }
        const std::uint32_t round_start = (segment - 1) / local.count * local.count;
        if (is_culprits && !is_same_ahead(task, segment, posted[round_start], claimed, fraud)) {
            return "what the culprit trains ahead is not what it defends";
        }
        if (is_culprits) {
            const dispute::Claim claim = claim_of(task, segment, before, claimed);
            worker::EngineReplay responder(task.artifacts, claim, before, {}, {}, fraud);
            worker::EngineReplay challenger(task.artifacts, claim, before, {}, {}, nullptr);
            const auto ruling = play(claim, responder, challenger);
            if (!ruling || *ruling != dispute::Ruling::kClaimRefuted) {
                return "the dispute did not refute segment " + std::to_string(segment);
            }
            is_found = true;
            break;  // GRP-7: the task is cut there
        }
        posted.push_back(claimed);
    }
    return is_found ? "" : "the culprit had no turn";
}

int count_faults(Dishonesty kind, std::uint64_t first, std::uint64_t last) {
    int faults = 0;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        const std::string fault = find_fault(kind, seed);
        if (!fault.empty()) {
            std::cout << to_string(kind) << ", seed " << seed << ": " << fault << std::endl;
            ++faults;
        }
    }
    std::cout << to_string(kind) << ": " << (last - first + 1) - static_cast<std::uint64_t>(faults) << " of "
              << last - first + 1 << " convict the member that cheated and nobody else" << std::endl;
    return faults;
}

}  // namespace

TEST_CASE("GRP-5, DSP-20: in groups of local replicas each fraud refutes the segment of who committed it, and no other"
) {
    for (const Dishonesty kind : kKinds) {
        CHECK(count_faults(kind, 1, kQuickSeeds) == 0);
    }
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
        const test::Seeds seeds = test::seeds_of(
            test::shard_from_environment(), std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10)
        );
        int faults = 0;
        for (const Dishonesty kind : kKinds) {
            faults += count_faults(kind, seeds.first, seeds.last);
        }
        return faults == 0 ? 0 : 1;
    }
    return context.run();
}
