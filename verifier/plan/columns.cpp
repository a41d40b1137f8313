// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <set>

#include <core/base/assert.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/plan/planner.hpp>

// Where the columns of a layer are cut into unequal parts.
namespace assay::plan {

using canonical::Graph;
using canonical::Input;
using canonical::kTileDim;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

namespace {

// A part may be so much smaller or larger than its share asks for, if it is made of whole partials then.
constexpr std::uint32_t kPartialSlackDivisor = 4;

std::vector<IndexSet> cut_at_grains(std::uint32_t size, std::span<const std::uint32_t> shares, std::uint32_t grain) {
    const auto count = static_cast<std::uint32_t>(shares.size());
    const std::uint32_t grains = (size + grain - 1) / grain;
    ASSERT(count <= grains);
    std::uint64_t total = 0;
    for (const std::uint32_t share : shares) {
        total += share;
    }
    ASSERT(total > 0);
    std::vector<IndexSet> out;
    std::uint64_t sum = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        sum += shares[i];
        // The nearest multiple, counted from the columns and not from the grains, of which the last may be smaller.
        const std::uint64_t wanted = proportion(2 * std::uint64_t{size}, sum, total);
        const auto nearest = static_cast<std::uint32_t>((wanted + grain) / (2 * std::uint64_t{grain}));
        const std::uint32_t end = std::clamp(nearest, begin + 1, grains - (count - 1 - i));
        const std::uint32_t last = i + 1 == count ? size : end * grain;
        out.emplace_back(begin * grain, last);
        begin = end;
    }
    return out;
}

bool are_alike(const std::vector<IndexSet>& parts, const std::vector<IndexSet>& wanted) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::uint32_t most = std::max(parts[i].count(), wanted[i].count());
        const std::uint32_t least = std::min(parts[i].count(), wanted[i].count());
        if (most - least > wanted[i].count() / kPartialSlackDivisor) {
            return false;
        }
    }
    return true;
}

// So many parts of columns that stand together, as heads do.
struct Heads {
    std::uint32_t count = 0;
    std::uint64_t cols = 0;  // of all of them
};

// Into which parts a view takes its input's columns to pieces; none if it leaves them together. They are an axis of the
// input, or one of the output that walks over its columns in steps.
Heads heads_in(const Node& view) {
    const std::uint32_t cols = view.inputs[0].shape.cols;
    const auto& axes = view.view->axes;
    std::uint64_t product = 1;
    std::size_t first = axes.size();
    while (first > 0 && product < cols) {
        product *= axes[--first].size;
    }
    if (product != cols || first == axes.size()) {
        return {};
    }
    if (axes[first].size < cols) {
        return {axes[first].size, cols};
    }
    Heads out;
    std::uint64_t widest = 1;
    for (std::size_t i = 0; i < view.view->dims.size(); ++i) {
        const std::int64_t stride = axes[first].strides[i];
        const std::uint64_t step = stride < 0 ? 0 : static_cast<std::uint64_t>(stride);
        if (step > widest && axes[first].divisor == 1) {
            widest = step;
            out = {view.view->dims[i], step * view.view->dims[i]};
        }
    }
    return out;
}

// What a view of a product's columns says of each section of them.
std::uint32_t heads_of_section(const Node& product, const Node& view) {
    const Heads heads = heads_in(view);
    const Shape weight = product.inputs[2].shape;
    if (weight.rows != 3 * weight.cols || view.inputs[0].shape.cols != weight.rows) {
        return heads.count;
    }
    if (heads.cols == weight.cols) {
        return heads.count;
    }
    return heads.cols == weight.rows && heads.count % 3 == 0 ? heads.count / 3 : 0;
}

}  // namespace

std::vector<IndexSet> cut_columns(std::uint32_t size, std::span<const std::uint32_t> shares, std::uint32_t grain) {
    std::vector<IndexSet> nearest = cut_at_grains(size, shares, grain);
    const std::uint64_t coarse = std::lcm(std::uint64_t{grain}, std::uint64_t{kTileDim});
    if (coarse == grain || size / coarse < shares.size()) {
        return nearest;
    }
    std::vector<IndexSet> whole = cut_at_grains(size, shares, static_cast<std::uint32_t>(coarse));
    return are_alike(whole, nearest) ? whole : nearest;
}

// Follows the columns of each product up to the next one. Those that meet in a product of heads, as queries and keys
// do, are cut alike.
std::vector<std::uint32_t> heads_of(const program::Program& program) {
    const Graph& graph = program.step;
    std::vector<std::uint32_t> out(program.loss_node + std::size_t{1});
    std::vector<std::set<std::uint32_t>> products(out.size());  // whose columns are the node's
    for (std::uint32_t i = 0; i <= program.loss_node; ++i) {
        const Node& node = graph[i];
        std::set<std::uint32_t> from;
        for (const Input& input : node.inputs) {
            if (input.source == Source::kNode) {
                from.insert(products[input.index].begin(), products[input.index].end());
            }
        }
        if (node.op == Op::kContract && canonical::group_count(node) == 1) {
            products[i] = {i};
            continue;
        }
        if (node.op == Op::kContract) {
            std::uint32_t common = 0;
            for (const std::uint32_t product : from) {
                common = std::gcd(common, out[product]);
            }
            for (const std::uint32_t product : from) {
                out[product] = common;
            }
            continue;
        }
        for (const std::uint32_t product : from) {
            out[product] = std::gcd(out[product], node.op == Op::kView ? heads_of_section(graph[product], node) : 0);
        }
        products[i] = std::move(from);
    }
    return out;
}

std::vector<IndexSet> Planner::column_parts(std::uint32_t node, std::uint32_t section) const {
    if (layout_.tensor_shares.empty()) {
        return cut(section, std::vector<std::uint32_t>(layout_.tensor, 1));
    }
    const std::uint32_t heads = heads_[node];
    const bool has_heads = heads >= layout_.tensor && section % heads == 0;
    return cut_columns(section, layout_.tensor_shares, has_heads ? section / heads : 1);
}

}  // namespace assay::plan
