// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <core/crypto/keys.hpp>
#include <tests/liability/plan.hpp>
#include <tests/simulation/worker.hpp>

/// Who is in an arena, with what money and under which parameters.
namespace assay::liability {

inline constexpr int kCandidate = 90;       ///< number of the account that becomes a validator
inline constexpr int kFirstAttacker = 100;  ///< of those of the attacker who knows nothing
inline constexpr int kAttackers = 3;
inline constexpr int kFirstMember = 110;  ///< of those of a plan

crypto::SecretKey key_of(int number);
/// Short clocks, so that everything ends within some hundred blocks.
contracts::Params make_params(simulation::Events& events);
/// For replays that take many blocks: machines so slow that the longest segment of an honest submitter takes `blocks`
/// of them, in windows that are shorter than that without WRK-5.
void make_slow(contracts::Params& params, model::Workshop& shop, std::uint64_t blocks);
inline constexpr std::uint64_t kDearSeeds = 3;  ///< in one seed of so many tasks are dear
/// So many times as dear as usual, with bonds in proportion as by default: 182 coins, near the default task_value_max.
inline constexpr std::uint64_t kDear = 7;
inline constexpr std::uint64_t kDearStake = 600;  ///< in coins, of honest workers there
void make_dear(contracts::Params& params);
/// Everybody honest that a network needs, and sometimes a worker who is not: its accounts are the attackers' too.
std::vector<simulation::Kind> choose_kinds(simulation::Events& events);
std::vector<Member> make_members(const std::string& chain_id);
/// Those of a plan, the last first, and the attacker's: who disputes whatever can be disputed.
std::vector<Member> make_accusers(const std::string& chain_id);
/// The attackers', those of a plan and of workers who are not honest.
std::vector<crypto::SecretKey> keys_of_attackers(const std::vector<simulation::Kind>& kinds);
/// Everybody has the same; workers have the numbers from 0 on.
contracts::Genesis make_genesis(const contracts::Params& params, std::size_t workers);

}  // namespace assay::liability
