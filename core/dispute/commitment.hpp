// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/merkle/tree.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>
#include <core/canonical/tile.hpp>

namespace assay::crypto {
class TaggedHash;
}

/// Hash commitments to tensors, states, programs and datasets (TRC rules). All are tagged hashes.
namespace assay::dispute {

/// TRC-1: "assay/tile" over the tile's padded bytes.
Hash256 tile_leaf(const canonical::Tile& tile) noexcept;
const crypto::TaggedHash& tile_tag() noexcept;
/// TRC-2: "assay/tensor" over Borsh(TensorType) and the Merkle root of the tensor's tiles.
Hash256 tensor_commitment(const canonical::TensorType& type, const Hash256& tile_root) noexcept;
/// The commitment of a whole tensor. For a tensor without elements: 32 zero bytes, the mark of an empty place in a
/// state (TRC-3).
Hash256 commit_tensor(const canonical::Tensor& tensor);
merkle::Tree tile_tree(const canonical::Tensor& tensor);
/// TRC-3: "assay/state" over the number of tensors (u32) and the Merkle root of their commitments, in state order.
Hash256 state_root(std::span<const Hash256> tensor_commitments) noexcept;
Hash256 state_root_from(std::uint32_t tensor_count, const Hash256& merkle_root) noexcept;
/// VER-8: what a verdict publishes instead of a state root if its replay diverged at step `step` and the solver did not
/// declare that: "assay/diverged" over the step's number (u64) and the root of the state after it.
Hash256 diverged_root(std::uint64_t step, const Hash256& state_root) noexcept;
/// TRC-4: "assay/partial" over the accumulator's bytes.
Hash256 accumulator_hash(const canonical::Accumulator& accumulator) noexcept;
/// TRC-5: "assay/node" over Borsh(Node); of kCommit, which may have thousands of inputs, commit_hash() of input_tree().
Hash256 node_hash(const canonical::Node& node) noexcept;
/// TRC-5: "assay/commit" over the number of inputs (u32) and their Merkle root.
Hash256 commit_hash(std::uint32_t input_count, const Hash256& inputs_root) noexcept;
/// TRC-5: the leaf of an input of kCommit, "assay/input" over Borsh(Input).
Hash256 input_leaf(const canonical::Input& input) noexcept;
/// The Merkle tree over the inputs of `commit`, which must be a kCommit with at least one input.
merkle::Tree input_tree(const canonical::Node& commit);
/// The Merkle tree over the hashes of a graph's nodes.
merkle::Tree graph_tree(const canonical::Graph& graph);
/// TRC-6: "assay/chunk" over a chunk of the dataset.
Hash256 chunk_leaf(ByteView chunk) noexcept;
/// The Merkle tree over all chunks of a dataset.
merkle::Tree dataset_tree(const canonical::RowSource& rows);

/// A program as stored on the chain. Its nodes are opened one at a time, when a dispute needs them.
struct ProgramCommitment {
    std::uint32_t state_tensors = 0;
    std::uint32_t init_nodes = 0;  ///< including kCommit
    std::uint32_t step_nodes = 0;
    Hash256 init_root;  ///< Merkle root of node_hash over the init graph
    Hash256 step_root;
    std::uint32_t batch_size = 0;
    canonical::DatasetShape dataset;
    /// The tensors that the init graph reads: their number, and their state root (TRC-3). Zero and zero if the program
    /// needs no initial tensors.
    std::uint32_t initial_tensors = 0;
    Hash256 initial_root;
    // WRK-2: derived from the graphs, and stated here so that windows and fees can be computed from it.
    std::uint64_t init_work = 0;  ///< work of the init graph, in multiply-adds
    std::uint64_t step_work = 0;
    std::uint64_t memory = 0;   ///< bytes needed by the graph that needs more
    std::uint64_t outputs = 0;  ///< bytes of all outputs of the graph that has more
    bool operator==(const ProgramCommitment&) const = default;
    static constexpr auto fields() {
        return Fields<
            &ProgramCommitment::state_tensors, &ProgramCommitment::init_nodes, &ProgramCommitment::step_nodes,
            &ProgramCommitment::init_root, &ProgramCommitment::step_root, &ProgramCommitment::batch_size,
            &ProgramCommitment::dataset, &ProgramCommitment::initial_tensors, &ProgramCommitment::initial_root,
            &ProgramCommitment::init_work, &ProgramCommitment::step_work, &ProgramCommitment::memory,
            &ProgramCommitment::outputs>{};
    }
};
/// TRC-7: the program's id: "assay/program" over Borsh(ProgramCommitment).
Hash256 program_id(const ProgramCommitment& commitment) noexcept;
/// The tensors that a task provides to the init graph.
struct InitialTensors {
    std::uint32_t count = 0;
    Hash256 root;  ///< their state root; zero if there are none
};
/// The commitment to a program; both graphs must be well-formed.
ProgramCommitment commit_program(
    const canonical::Graph& init, const canonical::Graph& step, std::uint32_t state_tensors, std::uint32_t batch_size,
    const canonical::DatasetShape& dataset, const InitialTensors& initial = {}
);

}  // namespace assay::dispute
