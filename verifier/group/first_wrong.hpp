// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <core/dispute/player.hpp>
#include <core/dispute/statement.hpp>
#include <verifier/group/ledger.hpp>

/// Finding out, by executing a segment alone, who told something wrong.
namespace assay::group {

/// A piece that is not what the replay has, as evidence.
struct WrongPiece {
    std::uint32_t author = 0;  ///< rank
    dispute::StatedPiece stated;
    Signature signature;  ///< the author's, of the statement
};

/// How a replay comes to have outputs: it executes a step again to have those that it was not asked for before, so one
/// after the other would cost an execution for each.
struct Collecting {
    /// Has the replay keep the outputs of these nodes of the step, and no others.
    std::function<void(std::uint64_t step, const std::set<std::uint32_t>& nodes)> collect{};
    std::uint64_t bytes_max = std::uint64_t{256} << 20U;  ///< of them at once, before what one more piece needs
};

/// Returns the first wrong piece among those told in the segment, in the order of the program (dispute::order_of);
/// nullopt if all are right. Who told it cannot have been misled by anything that was told to this rank. Who is accused
/// itself answers by it only if it comes before what it is accused of: nobody has misled it otherwise. `segment` is the
/// claim of the whole segment, `replay` this rank's own execution of it.
std::optional<WrongPiece> find_first_wrong(
    const std::vector<std::shared_ptr<const Told>>& told, const dispute::Claim& segment, dispute::Replay& replay,
    const Collecting& collecting = {}
);
std::optional<WrongPiece> find_first_wrong(
    const Ledger& ledger, const dispute::Claim& segment, dispute::Replay& replay, const Collecting& collecting = {}
);

}  // namespace assay::group
