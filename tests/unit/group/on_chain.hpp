// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <tests/unit/contracts/statements.hpp>
#include <tests/unit/group/group_runs.hpp>
#include <verifier/plan/layout.hpp>

/// The whole way, with ranks that really compute together and the chain's own rules: ranks sign something wrong, and
/// members accuse each other by what they were told until one pays.
namespace assay::group::testing {

/// A group of accounts, with a rank each, on a chain that trains the model in one segment.
struct Members {
    Members(const Model& trained, const plan::Layout& layout, std::uint32_t steps);

    /// The steps, each member with its own key.
    GroupRun train(Doubles doubles) const;
    /// Until the state that a run ended with is accepted by its verifiers. Training begins by post_start().
    void post(const Hash256& root);
    void post_start();
    /// A dispute of what was posted, by somebody who is no member.
    contracts::DisputeId dispute();
    /// What the member had to lose when the group was formed, and has now.
    std::uint64_t had(std::uint32_t rank) const;
    std::uint64_t has(std::uint32_t rank) const;
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(accounts.size()); }

    const Model& model;
    plan::Layout layout;
    std::uint32_t steps;
    contracts::test::Chain chain;
    contracts::TaskId id;
    std::vector<contracts::test::Actor> accounts;  ///< by rank
    std::uint64_t bond = 0;
};

/// What a rank has to answer: for the posted state, or for a statement of its own.
struct Answerable {
    contracts::DisputeId dispute;
    std::uint32_t rank = 0;
    std::optional<dispute::StatedOrder> accused_of{};  ///< its statement
};

/// The rank accuses whoever told it the first wrong thing, while the training goes on. nullopt if it was told none.
std::optional<Answerable> accuse(
    Members& at, const GroupRun& run, std::uint32_t rank, dispute::testing::ScalarReplay& truth
);
/// What members do who have to answer and would rather not.
struct Evasion {
    std::set<std::uint32_t> silent{};          ///< ranks that make no move
    std::optional<std::uint32_t> scapegoat{};  ///< whom the others accuse of something right, where they can
};

/// Everybody who has to answer does so by the first wrong thing that it was told, as long as there is one; the last one
/// plays. Returns how many have answered.
std::uint32_t answer(
    Members& at, const GroupRun& run, Answerable asked, dispute::testing::ScalarReplay& truth,
    const Evasion& evasion = {}
);

/// The rank accuses another one of something right, by forged evidence, while the training goes on, and both play to
/// the end. Returns false, and does nothing, if the other has told it nothing right.
bool accuse_falsely(
    Members& at, const GroupRun& run, std::uint32_t accuser, std::uint32_t accused,
    dispute::testing::ScalarReplay& truth
);

}  // namespace assay::group::testing
