// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <contracts/state/overlay.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/task.hpp>
#include <core/crypto/keys.hpp>

/// The most expensive transactions that the rules allow, at least one of each kind, and the states on which they are
/// executed.
namespace assay::bench {

/// An account that sends one transaction.
struct Player {
    crypto::SecretKey key;
    AccountId id;
    std::uint64_t number = 0;
};
Player make_player(std::uint64_t number);

/// The state of the scenes: everybody has money, and stake in every role. `height` is that of the next block.
struct Stage {
    contracts::Overlay& state;
    contracts::Params params;
    Height height;
};
inline constexpr std::uint64_t kStakers = 200;  ///< per role, in addition to the players
void add_stakers(Stage& stage);
void add_player(Stage& stage, const Player& player);

/// Prepares the state for `player` and returns the action to send; nullopt if something ends by its deadline, without a
/// transaction.
struct Scene {
    std::string name;
    std::function<std::optional<contracts::Action>(Stage&, const Player&)> play;
    /// For a scene without a transaction: the transactions whose gas paid for it.
    std::vector<std::string> paid_by{};
    bool is_for_owner = false;  ///< OPR-2: the player acts for another account, which has named it
};
/// Scenes for every action except those of the beacon and the moves of disputes.
std::vector<Scene> ordinary_scenes();
std::vector<Scene> beacon_scenes();
/// Scenes for the keys and files of private tasks.
std::vector<Scene> privacy_scenes();
/// Scenes for accusations and reports of members of a group.
std::vector<Scene> statement_scenes();
/// Scenes for reveals, selections and proofs: one proof for each primitive with an implementation of its own.
std::vector<Scene> dispute_scenes();

/// Returns a hash that is the same in every run.
Hash256 hash_numbered(const std::string& what, std::uint64_t number);
/// Returns a completed task of `player` in exact mode, with the maximum number of verdicts. It is not stored in the
/// state.
contracts::Task disputed_task(Stage& stage, const Player& player);

}  // namespace assay::bench
