// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/boundary.hpp>

#include <verifier/compile/program/model_builder.hpp>

namespace assay::program {

using canonical::Shape;

namespace {

constexpr Shape kOne{1, 1};
constexpr std::uint32_t kCutPrecision = 7;  // whose outermost integer NUM-14 cuts by itself
constexpr std::uint64_t kExponentBits = 8;
constexpr std::uint64_t kWordBits = 32;

}  // namespace

Value in_bits(GraphBuilder& graph, const Value& x, std::uint32_t bits) {
    const std::uint32_t precision = bits - 1;
    const Value exponent = graph.row_exponent(x, canonical::kMaxDimension);
    const Value fixed = graph.quantise(x, exponent, precision, 0);
    const Value one = graph.row_sum_exact(graph.to_int(graph.fill(Shape{x.shape.rows, 1}, 1.0F)));
    Value whole = graph.to_float(fixed);
    if (precision != kCutPrecision) {
        const auto most = static_cast<float>((1U << precision) - 1);
        whole = graph.min(graph.max(whole, graph.fill(kOne, -most)), graph.fill(kOne, most));
    }
    return graph.mul(whole, graph.dequantise(one, exponent, precision));
}

Value append_boundary(
    ModelBuilder& builder, const std::string& name, const Value& x, const Value& ids, std::uint32_t samples,
    const Boundary& boundary
) {
    GraphBuilder& graph = builder.graph();
    const Shape shape{samples, x.shape.cols};
    const Value table = builder.buffer("accumulated.activation." + name, shape, Start::zeros());
    const Value known = graph.gather_rows(table, ids);
    const Value change = graph.sub(x, known);
    // A row of zeros is of a sample that was not seen yet: then all of it is sent.
    const Value is_known = graph.less(graph.fill(Shape{x.shape.rows, 1}, 0.0F), graph.row_max(graph.abs(known)));
    const Value sent = graph.select(in_bits(graph, change, boundary.bits), is_known, change);
    builder.set_next(table, graph.add(table, graph.scatter_sum(sent, ids, shape)));
    return builder.tape().replaced(
        x, graph.add(known, sent),
        [bits = boundary.gradient_bits](GraphBuilder& back, const Value& gradient) {
            return in_bits(back, gradient, bits);
        }
    );
}

BoundaryTraffic boundary_traffic(const Boundary& boundary, std::uint32_t columns) {
    return {
        .first = kWordBits * columns,
        .forward = std::uint64_t{boundary.bits} * columns + kExponentBits,
        .back = std::uint64_t{boundary.gradient_bits} * columns + kExponentBits};
}

}  // namespace assay::program
