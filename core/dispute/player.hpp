// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/merkle/tree.hpp>
#include <core/canonical/executor.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/one_step_verifier.hpp>

/// The parties' side of a dispute: computing moves from one's own replay of the claim.
namespace assay::dispute {

/// One party's execution of the disputed claim. Implementations replay on demand and may cache. The results may be
/// wrong (those of a dishonest party are) but must be self-consistent, and the same whenever they are asked for.
class Replay {
  public:
    virtual ~Replay() = default;
    /// State root after step `step` (global number) of the claim.
    virtual Hash256 state_root_after(std::uint64_t step) = 0;
    /// The number of tensors in the state before `step`, and one of them; before the initialisation, those that the
    /// task provides, if any. `step` may be one past the claim's last. The tensor stays where it is until another one
    /// is asked for.
    virtual std::size_t state_size(std::uint64_t step) = 0;
    virtual const canonical::Tensor& state_tensor(std::uint64_t step, std::uint32_t index) = 0;
    /// The output of node `node` of `step`, which is not kCommit. It stays where it is until another step is asked
    /// about.
    virtual const canonical::Tensor& node_output(std::uint64_t step, std::uint32_t node) = 0;
    /// The first step of the claim that diverges (NUM-6), if any. For later steps only state roots may be requested,
    /// and any value will do.
    virtual std::optional<std::uint64_t> diverged_at() = 0;
    /// The disputed graph (init or step), and the dataset.
    virtual const canonical::Graph& graph() = 0;
    virtual const canonical::RowSource& rows() = 0;
    virtual const merkle::Tree& dataset_tree() = 0;

    /// TRC-2: the commitments of the outputs of all nodes of `step` except kCommit, in order. Those of the last 64
    /// steps that were asked about are kept, since disputes of one claim may lead to different steps. The trees below
    /// are kept until a step is asked about that is no neighbour.
    const std::vector<Hash256>& output_commitments(std::uint64_t step);
    /// The tree over the tiles of a node's output at `step`, and over those of one tensor of the state before `step`. A
    /// tree takes some 64 bytes for each tile.
    const merkle::Tree& output_tiles(std::uint64_t step, std::uint32_t node);
    const merkle::Tree& state_tiles(std::uint64_t step, std::uint32_t tensor);
    /// The tree over the commitments of the state's tensors before `step`.
    const merkle::Tree& state_tree(std::uint64_t step);
    /// How many tensors these functions have hashed.
    std::uint64_t tensors_hashed() const { return tensors_hashed_; }

  protected:
    /// Computes what output_commitments() returns, by asking for one output after the other. An implementation that has
    /// them all only while the step is executed hashes them then.
    virtual std::vector<Hash256> commit_outputs(std::uint64_t step);

  private:
    struct Trees {
        std::map<std::uint32_t, merkle::Tree> outputs{};
        std::map<std::uint32_t, merkle::Tree> tensors{};
        std::optional<merkle::Tree> state{};
    };
    Trees& trees_at(std::uint64_t step);
    const merkle::Tree& tiles_of(
        std::map<std::uint32_t, merkle::Tree>& trees, std::uint32_t index, const canonical::Tensor& tensor
    );

    std::map<std::uint64_t, Trees> trees_{};
    std::map<std::uint64_t, std::vector<Hash256>> commitments_{};  // of steps
    std::vector<std::uint64_t> committed_{};                       // the same steps, the first asked about first
    std::uint64_t tensors_hashed_ = 0;
};

/// The entries of a step: the commitment of each node's output, then the state root (TRC-8).
std::vector<Hash256> step_entries(Replay& replay, std::uint64_t step);

/// The responder's children for the position, which must have none pending and not be at a proof. The last child is
/// always the claimed result, even if the replay disagrees.
std::vector<Hash256> make_reveal(const Claim& claim, const Position& position, Replay& replay);

/// The challenger's selection from the pending children: the first child that its replay contradicts, or that contains
/// a diverging step which the claim does not admit; if there is none, the last child, because the claimed result is
/// wrong.
Selection make_selection(const Claim& claim, const Position& position, Replay& replay);

/// An earlier reveal at level kNodes of the dispute, taken from the chain's history: proofs need it for their paths.
struct NodeReveal {
    std::uint32_t first_node = 0;
    std::uint32_t child_height = 0;
    std::vector<Hash256> children;
};

/// DSP-5: what the last child of the next reveal has to be; nullopt where a root binds the children instead.
std::optional<Hash256> claimed_last_child(const Claim& claim, const Position& position) noexcept;

/// Where the next reveal at level kNodes begins; nullopt at another level.
std::optional<std::uint32_t> first_node_of(const Position& position) noexcept;

/// The proof for a position at level kProof. Either party can make it, since the inputs are agreed. `reveals` are the
/// dispute's reveals at level kNodes, in order.
Proof make_proof(const Claim& claim, const Position& position, Replay& replay, std::span<const NodeReveal> reveals);

/// DSP-27: the proof that the disputed step diverged although the claim has a state after it. nullopt if the replay
/// found no such divergence, or if its state differs from the claimed one.
std::optional<Proof> make_divergence_proof(const Claim& claim, const Position& position, Replay& replay);

/// NUM-41: what the part of a node's tile leaves, in the party's own execution of the claim's last step.
canonical::Accumulator make_part(const Claim& claim, const PartClaim& part, Replay& replay);

/// A node of the program as a selection opens it, and with its path.
OpenedNode opened(const canonical::Node& node);
NodeOpening open_node(const canonical::Graph& graph, std::uint32_t index);

/// Opens tile `tile` of tensor `tensor` of `state`; both must exist.
StateOpening open_tile(const std::vector<canonical::Tensor>& state, std::uint32_t tensor, std::uint64_t tile);

/// Opens the first tile of `state`, or of the state before `step`, that contains a non-finite value; nullopt if all
/// values are finite.
std::optional<StateOpening> open_divergence(const std::vector<canonical::Tensor>& state);
std::optional<StateOpening> open_divergence(Replay& replay, std::uint64_t step);

}  // namespace assay::dispute
