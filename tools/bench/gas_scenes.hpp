// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <contracts/state/overlay.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/task.hpp>
#include <core/crypto/keys.hpp>

/// The dearest transactions that the rules allow, one of each kind or more, and the states that they are executed on.
namespace assay::bench {

/// Somebody who sends one transaction.
struct Player {
    crypto::SecretKey key;
    AccountId id;
    std::uint64_t number = 0;
};
Player make_player(std::uint64_t number);

/// What everybody has in the scenes: money, and stake in every role. `height` is that of the block to come.
struct Stage {
    contracts::Overlay& state;
    contracts::Params params;
    Height height;
};
inline constexpr std::uint64_t kStakers = 200;  ///< of each role, besides the players
void add_stakers(Stage& stage);
void add_player(Stage& stage, const Player& player);

/// Makes what `player` needs and says what it sends; nullopt where something ends by its deadline alone.
struct Scene {
    std::string name;
    std::function<std::optional<contracts::Action>(Stage&, const Player&)> play;
    /// What paid by its gas for what a scene without a transaction does.
    std::vector<std::string> paid_by{};
    bool fails = false;  ///< it is refused, and costs validators no less for it
};
/// Of every action but the beacon's and the moves of disputes.
std::vector<Scene> ordinary_scenes();
std::vector<Scene> beacon_scenes();
/// Reveals, selections, and proofs: one for each primitive that does something of its own.
std::vector<Scene> dispute_scenes();

/// A hash that is the same in every run.
Hash256 hash_numbered(const std::string& what, std::uint64_t number);
/// A completed task of `player`'s in exact mode, with as many verdicts as a task can have. Not stored.
contracts::Task disputed_task(Stage& stage, const Player& player);

}  // namespace assay::bench
