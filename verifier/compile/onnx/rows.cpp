// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/rows.hpp>

#include <algorithm>
#include <numeric>

#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {

std::vector<std::uint32_t> one_axis(std::uint32_t axis) { return {axis}; }

std::vector<std::uint32_t> axes_between(std::size_t first, std::size_t end) {
    std::vector<std::uint32_t> out(end - first);
    std::iota(out.begin(), out.end(), static_cast<std::uint32_t>(first));
    return out;
}

Rows rows_along(Lowering& lowering, const Operand& x, std::vector<std::uint32_t> axes) {
    Rows out;
    std::uint64_t rows = 1;
    std::uint64_t cols = 1;
    std::sort(axes.begin(), axes.end());
    for (std::uint32_t axis = 0; axis < x->dims.size(); ++axis) {
        if (!std::binary_search(axes.begin(), axes.end(), axis)) {
            out.order.push_back(axis);
            out.kept.push_back(x->dims[axis]);
            rows *= x->dims[axis];
        }
    }
    for (const std::uint32_t axis : axes) {
        out.order.push_back(axis);
        cols *= x->dims[axis];
    }
    out.shape = checked_shape(rows, cols);
    out.value = lowering.matrix(lowering.array(x), out.order, out.shape);
    return out;
}

Operand from_rows(Lowering& lowering, const Operand& x, const Rows& rows, const Value& value) {
    const Array moved = lowering.from_matrix(value, x->type, permuted(x->dims, rows.order));
    return lowering.permute(lowering.add_array(moved), inverse(rows.order));
}

}  // namespace assay::onnx
