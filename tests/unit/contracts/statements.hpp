// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/dispute/statement.hpp>
#include <contracts/arbitration/actions/accusation_actions.hpp>
#include <tests/unit/contracts/groups.hpp>

/// Members of a group that trains together, what they state, and how they accuse each other, for tests.
namespace assay::contracts::test {

/// Where a statement about a toy task is wrong or right.
struct Stated {
    std::uint64_t step = 0;
    canonical::Source source = canonical::Source::kNode;
    std::uint32_t index = 0;
};

/// A statement by `author` about one piece as `run` has it, from the checkpoint before the segment on.
struct Signed {
    dispute::StatedPiece stated;
    Signature signature;
};
Signed make_statement(
    const TaskId& task, const ToyRun& run, const Stated& what, const Actor& author, const char* session = "session"
);

/// The accusation of `author` for what it stated, as `truth` contradicts it from the segment's start on, where the
/// state is that of `start`, or of `truth` itself.
Accuse make_accuse(
    const TaskId& task, const Signed& told, const Actor& author, const ToyRun& truth,
    std::optional<DisputeId> answers = std::nullopt, const ToyRun* start = nullptr
);

/// What tests of accusations ask of a chain: all segments are checked, and time is left to play.
Params all_segments();

/// A group of the chain's solver and so many partners that compute `run` together.
struct Team {
    explicit Team(const ToyRun& run, std::size_t partners = 2) : Team(run.spec(), partners, all_segments()) {}
    Team(const TaskSpec& spec, std::size_t partners, const Params& params);
    void post(const ToyRun& run, std::uint32_t until);
    /// Through training and the verdicts, which all accept.
    void finish(const ToyRun& run);
    DisputeId dispute_segment(std::uint32_t segment);
    DisputeId accusation(const Actor& accused, const Actor& accuser, std::uint32_t segment = 2) const {
        return accusation_id(id, segment, accused.id, accuser.id);
    }
    /// The accusation by which `accuser` answers a dispute.
    DisputeId answer(const Actor& accused, const Actor& accuser, const DisputeId& answers, std::uint32_t segment = 2)
        const {
        return accusation_id(id, segment, accused.id, accuser.id, answers);
    }
    DisputeState state(const DisputeId& dispute) const { return find_dispute(chain.view, dispute).value().state(); }
    /// STM-10: what a conviction takes.
    std::uint64_t half() const { return bond - bond / 2; }
    std::uint64_t locked(const Actor& actor) const { return chain.stake(Role::kSolver, actor).locked.grains; }
    /// The accusation of `author`, who stated what `told` has, as `truth` contradicts it.
    Accuse accuse(
        const Actor& author, const ToyRun& told, const ToyRun& truth, std::optional<DisputeId> answers = std::nullopt,
        const Stated& what = {.step = 5, .index = 2}
    ) const;

    Chain chain;
    TaskId id;
    std::vector<Actor> members;  ///< but for the lead
    std::uint64_t bond = 0;
};

}  // namespace assay::contracts::test
