// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <core/canonical/executor.hpp>
#include <core/canonical/node.hpp>
#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/row_kernels.hpp>

namespace assay::engine::fused {

/// A row-wise node applied to one block of rows.
struct RowCall {
    const canonical::Node& node;  ///< the node to compute
    /// The node whose inputs are read: `node`, or the quantisation that is fused into a row sum.
    const canonical::Node& reads;
    const canonical::StepContext& context;
    Extent extent;  ///< extent of the output
    std::array<const std::byte*, 3> inputs{};
    std::byte* output = nullptr;
    const ViewRows* view = nullptr;  ///< kView only
    Format format = Format::kWords;  ///< format of the output

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
