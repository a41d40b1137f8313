// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/optimizer.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// Data-parallel training written into a program: every replica computes the gradients of its own rows of the batch,
/// and what they exchange are nodes. docs/protocol/programs.md has the formulas.
namespace assay::program {

/// What a replica sends of a tensor under Deep Gradient Compression (DGC): of each block of consecutive elements the
/// one with the largest magnitude, the first of equal ones.
struct Selection {
    Value values;   ///< f32 [blocks,1]
    Value indices;  ///< i32 [blocks,1], the place within the block
    Value mask;     ///< f32 of the tensor's shape: 1 where an element is sent, else 0
};

/// Appends the selection from `x`, f32 with at most kMaxCompressed elements. The last block is filled up with zeros; a
/// tensor of fewer than `block` elements is one block.
Selection append_selection(GraphBuilder& graph, const Value& x, std::uint32_t block);
/// Returns the sum of what replicas have sent of a tensor of this shape: f32 additions in the order of the replicas.
Value append_sum_of_sent(
    GraphBuilder& graph, std::span<const Selection> sent, std::uint32_t block, canonical::Shape shape
);

/// An axis of a view has at most 2^28 places (PRG-7); a larger tensor is exchanged whole.
inline constexpr std::uint64_t kMaxCompressed = std::uint64_t{1} << 28U;
/// Appends a view of the first elements of `x` in their order, in another shape; zeros where `x` has no more. `x` has
/// at most kMaxCompressed elements.
Value in_shape(GraphBuilder& graph, const Value& x, canonical::Shape shape);
/// Whether a parameter of this shape is compressed: DGC is asked for and the tensor is neither too small nor too large.
bool is_compressed(const Replicas& replicas, canonical::Shape shape);
/// What one replica sends in a step, in bits: tensors that are exchanged whole and values of a selection have 32 each.
struct Traffic {
    std::uint64_t dense = 0;    ///< all gradients as they are
    std::uint64_t packed = 0;   ///< with indices of ceil(log2(block)) bits
    std::uint64_t written = 0;  ///< as the program's tensors have them, with indices of 32 bits
};
Traffic traffic_of(const Replicas& replicas, const std::vector<StateTensor>& parameters);
/// The slots of DGC: those of the optimizer for parameters that are exchanged whole, then each replica's momenta and
/// accumulated gradients of the others.
std::vector<Slot> dgc_slots(const OptimizerConfig& config, const std::vector<StateTensor>& parameters);

/// Writes the update of all replicas. add() takes the gradients of one replica after the other, so that each one's may
/// be compressed before the next one's are computed; finish() makes the next state.
class ReplicaUpdate {
  public:
    /// `config` must pass check_optimizer; `slots` are in the order of optimizer_slots().
    ReplicaUpdate(
        GraphBuilder& graph, const OptimizerConfig& config, const std::vector<Value>& parameters,
        std::vector<Value> slots
    );

    /// The gradients of the next replica, in the order of the parameters.
    void add(std::vector<Value> gradients);
    /// Returns the next state: parameters, then slots. Must be called once, after all replicas were added.
    std::vector<Value> finish();

  private:
    struct Tensor {
        Value parameter;
        bool is_compressed = false;
        Value sum;                    ///< of the gradients, if the tensor is exchanged whole
        std::vector<Selection> sent;  ///< by each replica, if it is compressed
    };
    bool has_momentum() const { return config_.kind == OptimizerKind::kSgdMomentum; }
    /// Clips and decays a replica's gradients before DGC accumulates them.
    void prepare(std::vector<Value>& gradients);
    /// Accumulates and sends; the next values of the replica's slots go to next_slots_.
    void compress(const std::vector<Value>& gradients);
    /// Appends the optimizer for tensors that are exchanged whole, and returns parameters, then slots.
    std::vector<Value> update_whole();

    GraphBuilder& graph_;
    OptimizerConfig config_;
    std::vector<Tensor> tensors_;
    std::vector<Value> slots_;
    std::size_t whole_ = 0;        ///< number of tensors that are exchanged whole
    std::size_t whole_slots_ = 0;  ///< number of their slots, which come first
    std::uint32_t added_ = 0;      ///< number of replicas
    std::vector<Value> next_slots_;
};

}  // namespace assay::program
