// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tests/unit/artifacts/files.hpp>
#include <tests/adversary/misstatement.hpp>
#include <tests/unit/dispute/game.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/engine/cell/session.hpp>
#include <verifier/group/first_wrong.hpp>
#include <verifier/group/signed_collective.hpp>
#include <verifier/plan/layout.hpp>

namespace assay::group::testing {

inline constexpr std::uint64_t kSeed = 7;

/// A program whose sizes are multiples of 32, so that its parts can be divided by ranks that answer for them.
struct Model {
    std::string name;
    program::Program program;
    dispute::testing::World world;

    canonical::StepContext context(std::uint64_t step) const {
        return {.seed = kSeed, .step = step, .dataset = world.rows->shape()};
    }
};
/// With 64 classes all parts of its sums are whole partials, in all layouts.
Model small_mlp(std::uint32_t classes = 64);
Model small_cnn();
Model small_gpt();
std::vector<Model> models();

/// What one rank does besides what the others do.
struct Lie {
    /// kTaken: what rank 0 takes of a state that a step made.
    enum class Kind : std::uint8_t { kValues, kPart, kState, kTaken };
    std::uint32_t rank = 0;
    std::uint64_t step = 0;
    Kind kind = Kind::kValues;
    std::uint32_t skipped = 0;  ///< messages of that kind which it leaves as they are
    std::uint32_t byte = 0;     ///< of the value that it alters
};

/// How the collectives of a run differ from honest ones.
struct Doubles {
    std::optional<Lie> lie{};                                   ///< about what the rank signs
    std::map<std::uint32_t, adversary::Misstated> misstated{};  ///< by rank
    /// Puts something between a rank's signatures and its links.
    std::function<std::unique_ptr<engine::Collective>(std::unique_ptr<engine::Collective>)> under{};
    std::function<crypto::SecretKey(std::uint32_t rank)> key{};  ///< that signs in place of the rank's own
    std::optional<Signers> signers{};                            ///< whom those keys belong to, if to ranks at all
    SegmentCheck check{};
    std::uint64_t seed = kSeed;     ///< that the members expect
    bool is_other_program = false;  ///< from what they expect
    std::uint64_t first_run = 0;    ///< the step that rank 0 orders first
    bool begins_twice = false;      ///< rank 0 begins the segment again and gives no state for it
    std::uint64_t more_steps = 0;   ///< of a second segment, with the state as rank 0 has taken it from the first
    bool keeps_state = false;       ///< rank 0 does not give it
    bool ends = false;              ///< rank 0 ends the last segment
    /// What rank 0 orders once the last step is done.
    enum class More : std::uint8_t {
        kNothing,
        kSecondStates,  ///< gives a tensor twice, each time another one, and takes it back each time
        kLastStep,      ///< the last step once more
        kNextStep,      ///< the step after it
    };
    More more = More::kNothing;
    bool denies_steps = false;                     ///< rank 0 says to the others that no step is finite
    std::optional<std::uint64_t> segment_steps{};  ///< that the members expect; nullopt: as many as are ordered
};

crypto::SecretKey key_of(std::uint32_t rank);
Signers signers_of(std::uint32_t ranks);

struct GroupRun {
    /// Where the ledgers are, for as long as somebody has a copy of this.
    std::shared_ptr<test::TemporaryDirectory> directory = std::make_shared<test::TemporaryDirectory>();
    std::optional<Hash256> root;            ///< of the last state
    std::vector<canonical::Tensor> middle;  ///< the state between two segments, as rank 0 has it
    std::vector<std::shared_ptr<Ledger>> ledgers;
    std::vector<StatementCost> costs;
    std::vector<engine::Served> served;                         ///< by each rank
    std::vector<std::vector<Finding>> findings;                 ///< of each rank
    std::vector<std::string> failures;                          ///< of each rank
    std::vector<std::optional<engine::RankError>> rank_errors;  ///< of each rank
    double seconds = 0.0;                                       ///< of the steps
    std::uint32_t lies = 0;                                     ///< that were told
};
/// Runs steps 0, 1, ... of a session of threads.
GroupRun run_group(const Model& model, const plan::Layout& layout, std::uint64_t steps, const Doubles& doubles = {});

}  // namespace assay::group::testing
