// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <core/base/fields.hpp>
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
    static constexpr auto fields() {
        return Fields<
            &Equivocation::author, &Equivocation::one, &Equivocation::one_signature, &Equivocation::other,
            &Equivocation::other_signature>{};
    }
};
/// The longest encoding of one: a path has 32 hashes at most.
inline constexpr std::uint64_t kEquivocationBytesMax = 2'608;

/// Returns the first piece that contradicts one before it; nullopt if there is none. Members find more together: what
/// only one rank is told differently is seen beside what the others were told.
std::optional<Equivocation> find_equivocation(const std::vector<std::shared_ptr<const Told>>& told);

/// What all statements have in common that ranks sign in a run of a segment (STM-2).
struct Occasion {
    Hash256 task;
    Hash256 before;   ///< state root at the start of the segment
    Hash256 session;  ///< of this run of the segment
    std::uint64_t first_step = 0;
};
/// Whether the statement was made then.
bool is_of(const dispute::Statement& statement, const Occasion& occasion);
/// Whether the rank `author` has signed the statement.
using IsSigned = bool(std::uint32_t author, const dispute::Statement& statement, const Signature& signature);

/// STM-3: whether evidence that another rank shows convicts its author of two statements on this occasion, as the chain
/// would have it (STM-7, STM-11). Pure: nothing is believed of who shows it. Asks `is_signed` twice at most; the author
/// has to be a rank of the session.
bool is_proven(const Equivocation& shown, const Occasion& occasion, const std::function<IsSigned>& is_signed);

}  // namespace assay::group
