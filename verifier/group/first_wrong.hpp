// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

/// Returns the first wrong piece among those told in the segment, in the order of the program (dispute::order_of);
/// nullopt if all are right. Who told it cannot have been misled by anything that was told to this rank. Who is accused
/// itself answers by it only if it comes before what it is accused of: nobody has misled it otherwise. `segment` is the
/// claim of the whole segment, `replay` this rank's own execution of it.
std::optional<WrongPiece> find_first_wrong(
    const std::vector<std::shared_ptr<const Told>>& told, const dispute::Claim& segment, dispute::Replay& replay
);
std::optional<WrongPiece> find_first_wrong(
    const Ledger& ledger, const dispute::Claim& segment, dispute::Replay& replay
);

}  // namespace assay::group
