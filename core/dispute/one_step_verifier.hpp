// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/opening.hpp>

/// The end of a dispute: every validator recomputes one opened partial (DSP rules).
namespace assay::dispute {

/// A chunk of the dataset with its path to the dataset root.
struct ChunkOpening {
    Bytes data;
    std::vector<Hash256> path;
    static constexpr auto fields() { return Fields<&ChunkOpening::data, &ChunkOpening::path>{}; }
};

/// What one partial reads.
struct PartialProof {
    std::optional<canonical::Accumulator> before;  ///< exactly when it is not the tile's first partial
    std::vector<TileOpening> tiles;                ///< in the order of operands_of, then dependent_operand
    std::vector<ChunkOpening> chunks;              ///< one or two in order if it reads the dataset, otherwise none
    static constexpr auto fields() {
        return Fields<&PartialProof::before, &PartialProof::tiles, &PartialProof::chunks>{};
    }
};

/// For kCommit: the disputed input with its path to the root over all inputs, and the commitment of the tensor that it
/// names, with its path to the trace root or the state root.
struct EntryProof {
    canonical::Input input;
    std::vector<Hash256> input_path;
    Hash256 commitment;
    std::vector<Hash256> path;
    static constexpr auto fields() {
        return Fields<&EntryProof::input, &EntryProof::input_path, &EntryProof::commitment, &EntryProof::path>{};
    }
};

/// Shows that the state after the disputed step is not finite (DSP-27).
struct DivergenceProof {
    StateOpening opening;
    static constexpr auto fields() { return Fields<&DivergenceProof::opening>{}; }
};

using Proof = std::variant<PartialProof, EntryProof, DivergenceProof>;

enum class [[nodiscard]] ProofError : std::uint8_t{
    kNotAtProof = 1,      ///< DSP-2
    kBadAccumulator = 2,  ///< DSP-20: does not match the revealed hash, is missing, or must not be present
    kBadTile = 3,         ///< DSP-20: wrong size or type of a tile, or wrong number of tiles
    kBadTilePath = 4,     ///< DSP-21: the path does not lead to a claimed tensor
    kBadChunk = 5,        ///< DSP-22: not the chunks of the dataset that hold the values
    kBadEntry = 6,        ///< DSP-23: not kCommit's input, or not that input's claimed commitment
    kSuperfluous = 7,     ///< DSP-24: contains parts that the node does not read
    kNoDivergence = 8,    ///< DSP-27: not from the claimed state, finite, or already admitted by the claim
    kWrongKind = 9,       ///< DSP-24: a tensor's commitment where a partial is disputed, or the reverse
};

enum class Ruling : std::uint8_t {
    kClaimHolds = 1,    ///< the partial's output equals the responder's value: the challenger was wrong
    kClaimRefuted = 2,  ///< the output differs: the responder was wrong
};
constexpr bool is_valid(Ruling r) { return r == Ruling::kClaimHolds || r == Ruling::kClaimRefuted; }

/// Executes the disputed partial on the opened inputs (DSP-26); the claim is refuted if and only if the output differs
/// from the claimed one (DSP-10). Alternatively, once a single step is disputed, checks an opened tile of the claimed
/// state after it for a non-finite value (DSP-27). Fails with a ProofError if the proof is refused, which decides
/// nothing (DSP-25). Total on any input; takes well under a millisecond.
Result<Ruling, ProofError> judge(const Claim& claim, const Position& position, const Proof& proof) noexcept;

/// What judge() executed of a disputed partial, for people who want to see the values.
struct Execution {
    canonical::PartialInput input;
    std::optional<canonical::PartialOutput> output;  ///< nullopt if the revealed accumulator has an impossible form
    Hash256 hash;                                    ///< of the output: the tile's leaf or the accumulator's hash
};
/// Executes the disputed partial as judge() does. Fails with the same errors, and with kNotAtProof if no partial is
/// disputed.
Result<Execution, ProofError> execute_disputed(
    const Claim& claim, const Position& position, const PartialProof& proof
) noexcept;

}  // namespace assay::dispute
