// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include <core/base/assert.hpp>
#include <verifier/compile/program/autodiff.hpp>

namespace assay::program {

using canonical::Shape;

namespace {

using Order = std::array<std::uint32_t, 4>;

// Of x [batch * tokens, heads * depth].
struct Heads {
    std::uint32_t batch = 0;
    std::uint32_t tokens = 0;
    std::uint32_t heads = 0;
    std::uint32_t depth = 0;
    Dims dims() const { return {batch, tokens, heads, depth}; }
};

Heads heads_of(const Value& x, std::uint32_t tokens, std::uint32_t heads) {
    ASSERT(tokens > 0 && heads > 0 && x.shape.rows % tokens == 0 && x.shape.cols % heads == 0);
    return Heads{x.shape.rows / tokens, tokens, heads, x.shape.cols / heads};
}

// Column i holds position * base^(-2i/depth) for the second half of the columns and its negative for the first: the
// cosine does not care and the sine gets the sign that the rotation asks for.
Value rotary_angles(GraphBuilder& graph, const Heads& h, float base) {
    const std::uint32_t pairs = h.depth / 2;
    const Value exponent = graph.scale(graph.iota(pairs), -2.0F * std::log(base) / static_cast<float>(h.depth));
    const Value frequency = graph.view(graph.exp(exponent), expand_view({pairs}, {2, pairs}), Shape{2, pairs});
    const Value sign = graph.add_const(graph.scale(graph.iota(2), 2.0F), -1.0F);
    const Value both = graph.mul(frequency, sign);
    const Value row = graph.view(both, reshape_view({2, pairs}, {1, h.depth}), Shape{1, h.depth});
    const Value position =
        graph.view(graph.iota(h.tokens), expand_view({h.tokens, 1}, {h.tokens, h.depth}), Shape{h.tokens, h.depth});
    return graph.mul(position, row);
}

}  // namespace

// Every head of every sequence is a group of rows; scores are [batch * heads * tokens, tokens].
Value Tape::causal_attention(
    const Value& q, const Value& k, const Value& v, std::uint32_t tokens, std::uint32_t heads
) {
    const Heads h = heads_of(q, tokens, heads);
    ASSERT(k.shape == q.shape && v.shape == q.shape);
    const std::uint32_t groups = h.batch * h.heads;
    const canonical::View split = permute_view(h.dims(), Order{0, 2, 1, 3});
    const Shape rows{groups * h.tokens, h.depth};
    const Value scaled = scale(view(q, split, rows), 1.0F / std::sqrt(static_cast<float>(h.depth)));
    const Value scores = matmul_nt(scaled, view(k, split, rows), groups);
    const Value weights = causal_softmax(scores, h.tokens);
    const Value v_transposed = view(v, permute_view(h.dims(), Order{0, 2, 3, 1}), Shape{groups * h.depth, h.tokens});
    const Value mixed = matmul_nt(weights, v_transposed, groups);
    return view(mixed, permute_view({h.batch, h.heads, h.tokens, h.depth}, Order{0, 2, 1, 3}), q.shape);
}

Value Tape::rotary(const Value& x, std::uint32_t tokens, std::uint32_t heads, float base) {
    const Heads h = heads_of(x, tokens, heads);
    ASSERT(h.depth % 2 == 0);
    const Value angles = rotary_angles(graph_, h, base);
    const canonical::View repeat = expand_view({h.tokens, 1, h.depth}, h.dims());
    const Value cosine = graph_.view(graph_.cos(angles), repeat, x.shape);
    const Value sine = graph_.view(graph_.sin(angles), repeat, x.shape);
    // Each half in the other's place; its own inverse and transpose.
    const canonical::View swap = slice_view({x.shape.rows, h.heads, 2, h.depth / 2}, 2, 1, 2, -1);
    const Value out = graph_.add(graph_.mul(x, cosine), graph_.mul(graph_.view(x, swap, x.shape), sine));
    return pointwise(x, out, [=](GraphBuilder& graph, const Value& gradient) {
        const Value crossed = graph.view(graph.mul(gradient, sine), swap, gradient.shape);
        return graph.add(graph.mul(gradient, cosine), crossed);
    });
}

}  // namespace assay::program
