// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/scene.hpp>

#include <algorithm>

#include <tests/unit/contracts/fixture.hpp>

namespace assay::liability {

using contracts::test::kCoin;
using simulation::Kind;

contracts::Params make_params(simulation::Events& events) {
    contracts::Params params;
    params.accept_blocks = 15;
    params.commit_blocks = 30;
    params.publish_blocks = 20;
    params.challenge_blocks = 24;
    params.disclose_blocks = 20;
    params.dispute_clock_blocks = 80;
    params.dispute_extension_blocks = 20;
    params.attest_blocks = 30;
    params.segments_checked = 6;
    params.segments_checked_max = 6;
    params.solver_bond_bps = 0;
    params.forced_error_bps = events.chance(50) ? 3'000 : 0;
    params.watchers_per_verdict = 2;
    params.contributors_max = events.chance(30) ? 0 : 4;
    params.contribute_blocks = 12;
    params.contributor_bond = {100 * kCoin};
    params.validator_stake_min = {100 * kCoin};
    params.task_value_max = {26 * kCoin};
    params.draw_blocks = 300;
    params.redraw_blocks = 2;
    params.decline_blocks = 60;
    params.share_blocks = 25;
    return params;
}

void make_slow(contracts::Params& params, model::Workshop& shop, std::uint64_t blocks) {
    constexpr std::uint64_t kMostSteps = 5;
    params.block_ms = 1;
    const std::uint64_t work = kMostSteps * shop.spec(false).program.step_work;
    std::uint64_t score = std::max<std::uint64_t>(work / (std::uint64_t{1'000} * params.block_ms * blocks), 1);
    for (contracts::HardwareClass& machines : params.hardware_classes) {
        machines.least_score = score;
        score *= 10;
    }
    params.commit_blocks = 14;
    params.challenge_blocks = 14;
    params.attest_blocks = 16;
}

void make_dear(contracts::Params& params) {
    params.task_value_max = contracts::Params{}.task_value_max;
    params.solver_bond_bps = contracts::Params{}.solver_bond_bps;
}

crypto::SecretKey key_of(int number) {
    std::array<std::uint8_t, 32> secret{};
    secret[31] = static_cast<std::uint8_t>(number + 1);
    return crypto::SecretKey::from_bytes(secret).value();
}

std::vector<Kind> choose_kinds(simulation::Events& events) {
    std::vector<Kind> kinds{Kind::kSubmitter, Kind::kHonestSolver,  Kind::kHonestSolver,
                            Kind::kVerifier,  Kind::kVerifier,      Kind::kVerifier,
                            Kind::kVerifier,  Kind::kWhistleblower, Kind::kWhistleblower};
    const Kind dishonest[] = {Kind::kCheat, Kind::kLazyVerifier, Kind::kFalseAccuser, Kind::kLyingProfiler};
    if (events.chance(50)) {
        kinds.push_back(dishonest[events.below(4)]);
    }
    return kinds;
}

std::vector<Member> make_members(const std::string& chain_id) {
    std::vector<Member> members;
    for (int i = 0; i < Plan::kMembers; ++i) {
        members.emplace_back(key_of(kFirstMember + i), chain_id);
    }
    return members;
}

contracts::Genesis make_genesis(const contracts::Params& params, std::size_t workers) {
    contracts::Genesis genesis;
    genesis.chain_id = "arena-1";
    genesis.params = params;
    const auto endow = [&](int number) { genesis.balances[key_of(number).account()] = Amount{1'000 * kCoin}; };
    for (std::size_t i = 0; i < workers; ++i) {
        endow(static_cast<int>(i));
    }
    endow(kCandidate);
    for (int i = 0; i < kAttackers; ++i) {
        endow(kFirstAttacker + i);
    }
    for (int i = 0; i < Plan::kMembers; ++i) {
        endow(kFirstMember + i);
    }
    return genesis;
}

std::vector<Member> make_accusers(const std::string& chain_id) {
    std::vector<Member> members = make_members(chain_id);
    std::reverse(members.begin(), members.end());  // plans need their first ones
    for (int i = 0; i < kAttackers; ++i) {
        members.emplace_back(key_of(kFirstAttacker + i), chain_id);
    }
    return members;
}

std::vector<crypto::SecretKey> keys_of_attackers(const std::vector<simulation::Kind>& kinds) {
    std::vector<crypto::SecretKey> keys;
    for (int i = 0; i < Plan::kMembers; ++i) {
        keys.push_back(key_of(kFirstMember + i));
    }
    for (int i = 0; i < kAttackers; ++i) {
        keys.push_back(key_of(kFirstAttacker + i));
    }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (!simulation::is_honest(kinds[i])) {
            keys.push_back(key_of(static_cast<int>(i)));
        }
    }
    return keys;
}

}  // namespace assay::liability
