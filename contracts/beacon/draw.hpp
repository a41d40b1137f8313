// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/task.hpp>

/// Stake-weighted random draws (TASK-6, VER-1, BLK-5).
namespace assay::contracts {

/// Purpose of a draw. Any two draws of one round use different randomness.
enum class DrawKind : std::uint8_t {
    kSolver = 1,
    kSegment = 2,
    kVerifier = 3,
    kProbe = 4,
    kWatcher = 5,
    kProfiler = 6,
    kReference = 7,
    kSketch = 8,
    kMark = 9,
    kMember = 10,
    kTile = 11,
    kShow = 12
};
constexpr bool is_valid(DrawKind k) { return k >= DrawKind::kSolver && k <= DrawKind::kShow; }

/// Identifies a draw within a round.
struct DrawName {
    TaskId task;
    DrawKind kind = DrawKind::kSolver;
    std::uint32_t segment = 0;
    std::uint32_t index = 0;
    static constexpr auto fields() {
        return Fields<&DrawName::task, &DrawName::kind, &DrawName::segment, &DrawName::index>{};
    }
};

/// BLK-5: the randomness of a draw: "assay/draw" over the seed of a round and Borsh(name).
Hash256 draw_randomness(const Hash256& seed, const DrawName& name);

/// The first 16 bytes, little-endian, modulo `bound`, which must be at least 1.
std::uint64_t reduce(const Hash256& randomness, std::uint64_t bound) noexcept;

/// The first 8 bytes, little-endian, as the seed of a random number generator.
std::uint64_t to_seed(const Hash256& randomness) noexcept;

/// Index of a candidate chosen with probability proportional to its weight; nullopt if the total weight is 0.
std::optional<std::size_t> draw_weighted(std::span<const Candidate> candidates, const Hash256& randomness) noexcept;

/// BCN-10: draws one of `candidates` by the weights of the round. If the drawn one is not able any more, draws again
/// among those that are. nullopt if there is nobody to draw.
std::optional<AccountId> draw_able(
    std::vector<Candidate> candidates, const Hash256& seed, const DrawName& name,
    const std::function<bool(const AccountId&)>& is_able
);

/// TRM-3: whether a verifier with at least `needed` free stake consents to the task, and enough consent among all
/// verifiers whose stake, free and locked, is at least `needed`. The submitter is excluded.
bool has_quorum(const Params& params, const Task& task, Amount needed, std::vector<Candidate> verifiers);

/// The listed stakers of `role` with their free and locked stake and their terms, ordered by account.
std::vector<Candidate> read_pool(const StateView& view, Role role);

}  // namespace assay::contracts
