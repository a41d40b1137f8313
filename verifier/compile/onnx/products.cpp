// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/products.hpp>

namespace assay::onnx {

using canonical::kTileDim;
using canonical::Shape;

namespace {

std::uint32_t to_tile(std::uint64_t n) {
    return static_cast<std::uint32_t>(
        (std::min<std::uint64_t>(n, canonical::kMaxDimension) + kTileDim - 1) / kTileDim * kTileDim
    );
}

// [G*M,K] with zeros behind each group's rows and behind the columns.
Value padded_groups(Lowering& lowering, const Value& x, std::uint32_t groups, std::uint32_t rows, std::uint32_t cols) {
    const std::uint32_t m = x.shape.rows / groups;
    const std::uint32_t k = x.shape.cols;
    if (m == rows && k == cols) {
        return x;
    }
    const std::vector<std::int32_t> none{0, 0, 0};
    const std::vector<std::int32_t> more{0, static_cast<std::int32_t>(rows - m), static_cast<std::int32_t>(cols - k)};
    const Shape shape = checked_shape(std::uint64_t{groups} * rows, cols);
    return lowering.view(x, program::pad_view({groups, m, k}, none, more), shape);
}

}  // namespace

Value grouped_product(Lowering& lowering, const Value& a, const Value& b, std::uint32_t groups) {
    program::Tape& tape = lowering.tape();
    const std::uint32_t m = a.shape.rows / groups;
    const std::uint32_t n = b.shape.rows / groups;
    checked_shape(a.shape.rows, n);
    if (groups == 1) {
        return tape.matmul_nt(a, b);
    }
    const std::uint32_t rows = to_tile(m);
    const std::uint32_t cols = to_tile(n);
    const std::uint32_t depth = to_tile(a.shape.cols);
    checked_shape(std::uint64_t{groups} * rows, cols);
    const Value left = padded_groups(lowering, a, groups, rows, depth);
    const Value right = padded_groups(lowering, b, groups, cols, depth);
    const Value product = tape.matmul_nt(left, right, groups);
    if (rows == m && cols == n) {
        return product;
    }
    const std::vector<std::int32_t> none{0, 0, 0};
    const std::vector<std::int32_t> less{0, -static_cast<std::int32_t>(rows - m), -static_cast<std::int32_t>(cols - n)};
    return lowering.view(product, program::pad_view({groups, rows, cols}, none, less), Shape{a.shape.rows, n});
}

namespace {

Operand matrix_product(Call& call, const Operand& left, const Operand& right) {
    Lowering& lowering = call.lowering();
    Operand a = left;
    Operand b = right;
    if (a->dims.empty() || b->dims.empty()) {
        refuse_invalid("a scalar is no matrix");
    }
    const bool is_row = a->dims.size() == 1;
    const bool is_column = b->dims.size() == 1;
    a = is_row ? lowering.reshape(a, {1, a->dims[0]}) : a;
    b = is_column ? lowering.reshape(b, {b->dims[0], 1}) : b;
    const std::uint32_t m = a->dims[a->dims.size() - 2];
    const std::uint32_t k = a->dims.back();
    const std::uint32_t n = b->dims.back();
    if (b->dims[b->dims.size() - 2] != k) {
        refuse_invalid("dimensions " + to_text(left->dims) + " and " + to_text(right->dims) + " do not multiply");
    }
    const Dims batch_a(a->dims.begin(), a->dims.end() - 2);
    const Dims batch_b(b->dims.begin(), b->dims.end() - 2);
    const Dims batch = broadcast_dims(batch_a, batch_b);
    Dims dims = batch;
    dims.insert(dims.end(), {m, n});
    if (checked_elements(dims) == 0 || k == 0) {
        refuse_unsupported("a product of dimensions " + to_text(dims) + " has no elements");
    }
    Value product;
    const bool is_shared = checked_elements(batch_b) == 1;
    if (is_shared) {
        // One right side for all: the batch is more rows.
        const Value rows =
            lowering.view_as(lowering.real(lowering.array(a)), checked_shape(checked_elements(batch_a) * m, k));
        const Value columns = lowering.view_as(lowering.real(lowering.array(b)), checked_shape(k, n));
        product = grouped_product(lowering, rows, lowering.transpose(columns), 1);
    } else {
        Dims all_a = batch;
        all_a.insert(all_a.end(), {m, k});
        Dims all_b = batch;
        all_b.insert(all_b.end(), {k, n});
        const auto groups = static_cast<std::uint32_t>(checked_elements(batch));
        const Value rows = lowering.real(lowering.array(lowering.expand(a, all_a)));
        const Value columns = lowering.real(lowering.array(lowering.expand(b, all_b)));
        checked_shape(std::uint64_t{groups} * n, k);
        product = grouped_product(
            lowering, lowering.view_as(rows, checked_shape(std::uint64_t{groups} * m, k)),
            lowering.transpose(lowering.view_as(columns, checked_shape(std::uint64_t{groups} * k, n)), groups), groups
        );
    }
    if (is_column) {
        dims.pop_back();
    }
    if (is_row) {
        dims.erase(dims.end() - (is_column ? 1 : 2));
    }
    return lowering.add_array(lowering.from_matrix(product, left->type, dims));
}

Outputs lower_matmul(Call& call) {
    require_real(call.in(0));
    call.require_same_type(0, 1);
    return {matrix_product(call, call.in(0), call.in(1))};
}

// alpha * A B + beta * C, A and B perhaps transposed.
Outputs lower_gemm(Call& call) {
    Lowering& lowering = call.lowering();
    program::Tape& tape = call.tape();
    require_real(call.in(0));
    call.require_same_type(0, 1);
    if (call.rank(0) != 2 || call.rank(1) != 2) {
        refuse_invalid("the inputs are not matrices");
    }
    if (call.in(0)->is_empty() || call.in(1)->is_empty()) {
        refuse_unsupported("the inputs have no elements");
    }
    const Value a = lowering.real(call.array(0));
    const Value b = lowering.real(call.array(1));
    const Value left = call.integer("transA", 0) != 0 ? lowering.transpose(a) : a;
    const Value right = call.integer("transB", 0) != 0 ? b : lowering.transpose(b);
    if (left.shape.cols != right.shape.cols) {
        refuse_invalid(
            "dimensions " + to_text(call.in(0)->dims) + " and " + to_text(call.in(1)->dims) + " do not multiply"
        );
    }
    const float alpha = call.real("alpha", 1.0F);
    const float beta = call.real("beta", 1.0F);
    const Dims dims{left.shape.rows, right.shape.rows};
    require_array(dims);
    if (!call.has(2)) {
        const Value product = grouped_product(lowering, left, right, 1);
        return {
            lowering.add_array({call.in(0)->type, dims, alpha == 1.0F ? product : tape.scale(product, alpha), false})};
    }
    call.require_same_type(0, 2);
    if (call.in(2)->is_empty() || broadcast_dims(call.in(2)->dims, dims) != dims) {
        refuse_invalid("dimensions " + to_text(call.in(2)->dims) + " do not broadcast to " + to_text(dims));
    }
    Value c = lowering.fit(call.array(2), dims, false);
    c = beta == 1.0F ? c : tape.scale(c, beta);
    if (alpha == 1.0F && c.shape == Shape{1, dims[1]}) {
        return {lowering.add_array({call.in(0)->type, dims, tape.linear(left, right, c), false})};
    }
    const Value product = grouped_product(lowering, left, right, 1);
    const Value scaled = alpha == 1.0F ? product : tape.scale(product, alpha);
    return {lowering.add_array({call.in(0)->type, dims, tape.add(scaled, c), false})};
}

}  // namespace

std::vector<Operator> product_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    return {
        {"MatMul", 1, kExact, {}, lower_matmul},
        {"Gemm", 1, kExact, {"alpha", "beta", "transA", "transB"}, lower_gemm},
    };
}

}  // namespace assay::onnx
