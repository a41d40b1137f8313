// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/merkle/tree.hpp>
#include <core/canonical/executor.hpp>
#include <core/dispute/narrowing.hpp>
#include <core/dispute/referee.hpp>

/// The parties' side of a dispute: what each computes from its own replay of the claim.
namespace assay::dispute {

/// One party's execution of the disputed claim. Implementations replay on demand and may cache; what they return
/// need not be right (a dishonest party's is not), but must be consistent with itself.
class Replay {
  public:
    virtual ~Replay() = default;
    /// State root after global step `step` of the claim.
    virtual Hash256 state_root_after(std::uint64_t step) = 0;
    /// The state before `step`: its tensors in state order (before the initialisation: those that the task gives, if
    /// any). `step` may be the one after the claim's last.
    virtual const std::vector<canonical::Tensor>& state_before(std::uint64_t step) = 0;
    /// Outputs of every node of `step` but kCommit, in order.
    virtual const std::vector<canonical::Tensor>& node_outputs(std::uint64_t step) = 0;
    /// The first step of the claim that diverges (NUM-6), if there is one. Of the steps after it only the state roots
    /// may be asked for, and any will do.
    virtual std::optional<std::uint64_t> diverged_at() = 0;
    /// The graph in question (init or step), and the dataset.
    virtual const canonical::Graph& graph() = 0;
    virtual const canonical::RowSource& rows() = 0;
    virtual const merkle::Tree& rows_tree() = 0;
};

/// The entries of a step: the commitment of each node's output, then the state root (TRC-8).
std::vector<Hash256> step_entries(Replay& replay, std::uint64_t step);

/// The responder's children for the position (nothing pending, not kProof). The last child is always what was
/// claimed, even where the replay says otherwise.
std::vector<Hash256> make_reveal(const Claim& claim, const Position& position, Replay& replay);

/// The challenger's selection from `position.pending`: the first child that its own replay contradicts, or with the
/// step that diverges unless the claim says that it does; the last one when there is none (the result was claimed
/// wrongly, so the last cannot be right).
Selection make_selection(const Claim& claim, const Position& position, Replay& replay);

/// A reveal of level kNodes of this dispute, kept (from the chain's history) because paths of proofs need it.
struct NodeReveal {
    std::uint32_t first_node = 0;
    std::uint32_t child_height = 0;
    std::vector<Hash256> children;
};

/// The proof for a position at kProof. Either party can make it, since the inputs are agreed; `reveals` are the
/// dispute's kNodes reveals in order.
Proof make_proof(
    const Claim& claim, const Position& position, Replay& replay, std::span<const NodeReveal> reveals
);

/// DSP-27: the proof that the step in question has diverged although the claim has a state after it; nullopt when the
/// replay knows nothing of the kind, or of another state than the claimed one.
std::optional<Proof> make_divergence_proof(const Claim& claim, const Position& position, Replay& replay);

/// Tile `tile` of tensor `tensor` of `state`, opened; both exist.
StateOpening open_tile(const std::vector<canonical::Tensor>& state, std::uint32_t tensor, std::uint64_t tile);

/// The first tile of `state` that holds a value that is not finite, opened; nullopt when all are finite.
std::optional<StateOpening> open_divergence(const std::vector<canonical::Tensor>& state);

}  // namespace assay::dispute
