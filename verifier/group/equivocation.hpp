// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <core/dispute/statement.hpp>
#include <verifier/group/ledger.hpp>

namespace assay::group {

/// Two statements of one member that say other values of one thing (STM-7), as evidence.
struct Equivocation {
    std::uint32_t author = 0;  ///< rank
    dispute::StatedPiece one;
    Signature one_signature;  ///< the author's, of the statement
    dispute::StatedPiece other;
    Signature other_signature;
};

/// Returns the first piece that contradicts one before it; nullopt if there is none. Members find more together: what
/// only one rank is told differently is seen beside what the others were told.
std::optional<Equivocation> find_equivocation(const std::vector<std::shared_ptr<const Told>>& told);

}  // namespace assay::group
