// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/narrowing.hpp>
#include <core/dispute/opening.hpp>

/// The end of a dispute: one partial, opened and recomputed by every validator (DSP rules).
namespace assay::dispute {

struct RowOpening {
    Bytes row;
    std::vector<Hash256> path;
    static constexpr auto fields() { return Fields<&RowOpening::row, &RowOpening::path>{}; }
};

/// The commitment of the input of kCommit in question, and its path to the trace root or the state root.
struct EntryOpening {
    Hash256 commitment;
    std::vector<Hash256> path;
    static constexpr auto fields() { return Fields<&EntryOpening::commitment, &EntryOpening::path>{}; }
};

struct Proof {
    std::optional<canonical::Accumulator> before;
    std::vector<TileOpening> tiles;  ///< operands_of, then dependent_operand
    std::optional<RowOpening> row;
    std::optional<EntryOpening> entry;  ///< kCommit only
    std::optional<StateOpening> divergence;  ///< alone: the state after the step in question is not finite (DSP-27)
    static constexpr auto fields() {
        return Fields<&Proof::before, &Proof::tiles, &Proof::row, &Proof::entry, &Proof::divergence>{};
    }
};

enum class [[nodiscard]] ProofError : std::uint8_t {
    kNotAtProof = 1,        ///< DSP-2
    kBadAccumulator = 2,    ///< DSP-20: does not hash to what was revealed, or is missing, or should not be there
    kBadTile = 3,           ///< DSP-20: a tile of the wrong size or type, or too few or too many
    kBadTilePath = 4,       ///< DSP-21: does not lead to a claimed tensor
    kBadRow = 5,            ///< DSP-22: a dataset row that is not the one that the batch order names
    kBadEntry = 6,          ///< DSP-23: missing, or not what was claimed for the input
    kSuperfluous = 7,       ///< DSP-24: parts that this node does not read
    kNoDivergence = 8,      ///< DSP-27: not of the claimed state, or finite, or what the claim says itself
};

enum class Ruling : std::uint8_t {
    kClaimHolds = 1,    ///< the responder's value is what the partial gives: the challenger was wrong
    kClaimRefuted = 2,  ///< it is not: the responder was wrong
};
constexpr bool is_valid(Ruling r) { return r == Ruling::kClaimHolds || r == Ruling::kClaimRefuted; }

/// Executes the one disputed partial on the opened inputs (DSP-26): refuted exactly when the output is not what was
/// claimed (DSP-10). Or, once one step is in question, looks for a value that is not finite in the state that was
/// claimed after it (DSP-27). A proof that it refuses rules nothing (DSP-25). Total on any input; well under a
/// millisecond.
Result<Ruling, ProofError> judge(const Claim& claim, const Position& position, const Proof& proof) noexcept;

}  // namespace assay::dispute
