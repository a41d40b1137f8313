// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

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

}  // namespace assay::contracts::test
