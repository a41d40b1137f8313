// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/engine/cell/collective.hpp>

namespace assay::group {

/// Compares what rank 0 gives the other ranks of a segment's first state with the state root that the chain has
/// (STM-3): whoever hands it on answers for it alone, since there is no step yet whose dispute it could answer by
/// showing who gave it (STM-5).
///
/// Rank 0 sends the hashes of all tiles of each tensor, which lead to the root, and where a rank's block has parts of
/// tiles, those tiles. Neither is stated: a false one leads to another root, or to another hash.
class FirstState {
  public:
    explicit FirstState(const Hash256& before) : before_(before) {}

    /// As rank 0, helps the others to compare; `tensor` is the whole one. As another rank, compares its block,
    /// `tensor`. All ranks call it for each tensor, in one order. Throws engine::RankError, naming rank 0, if the block
    /// is not what the hashes say, or once all tensors are known, if these are not of a state with that root.
    void compare(engine::Collective& links, const engine::GivenTensor& given, const canonical::Tensor& tensor);
    /// Whether this rank has compared all tensors.
    bool is_compared() const { return is_compared_; }

  private:
    void show(engine::Collective& links, const engine::GivenTensor& given, const canonical::Tensor& whole) const;
    void note(const engine::GivenTensor& given, const std::vector<Hash256>& leaves);

    Hash256 before_;
    std::vector<std::optional<Hash256>> commitments_{};  // of each tensor
    bool is_compared_ = false;
};

}  // namespace assay::group
