// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <core/canonical/executor.hpp>
#include <core/canonical/node.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/row_kernels.hpp>

namespace assay::engine::fused {

/// Whether a node works row by row: everything but products, scatters, batches and the commitment.
bool is_row_wise(canonical::Op op);

/// One such node on one block of rows.
struct RowCall {
    const canonical::Node& node;   ///< what it computes
    /// Whose inputs it reads: `node`'s own, or those of the quantisation that a sum does at once.
    const canonical::Node& reads;
    const canonical::StepContext& context;
    Extent extent;  ///< of the output
    std::array<const std::byte*, 3> inputs{};
    std::byte* output = nullptr;
    const ViewRows* view = nullptr;  ///< kView only
    Format format = Format::kWords;  ///< of the output

    template <class T>
    const T* in(std::size_t i) const {
        return reinterpret_cast<const T*>(inputs[i]);
    }
    template <class T>
    T* out() const {
        return reinterpret_cast<T*>(output);
    }
    Extent input_extent(std::size_t i) const {
        return {.rows = extent.rows, .cols = reads.inputs[i].shape.cols, .first_row = extent.first_row};
    }
    Spread spread(std::size_t i) const { return spread_of(reads.inputs[i].shape, reads.inputs[0].shape); }
    bool is_shared(std::size_t i) const { return reads.inputs[i].shape.rows == 1 && reads.inputs[0].shape.rows != 1; }
};

void run_row_op(const RowCall& call);

}  // namespace assay::engine::fused
