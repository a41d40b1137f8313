// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/placement.hpp>

#include <algorithm>
#include <bit>

#include <core/base/assert.hpp>

namespace assay::plan {
namespace {

// The classes of rows and columns of a placement.
struct Grid {
    std::vector<IndexClass> rows;
    std::vector<IndexClass> cols;
};

Grid grid_of(const Placement& placement, canonical::Shape shape) {
    std::vector<const IndexSet*> rows;
    std::vector<const IndexSet*> cols;
    const IndexSet none;
    for (const Block& block : placement) {
        rows.push_back(block.is_empty() ? &none : &block.rows);
        cols.push_back(block.is_empty() ? &none : &block.cols);
    }
    return {classes_of(rows, shape.rows), classes_of(cols, shape.cols)};
}

// The first rank of `ranks` from `to` on, cyclically: so that not all ask the same one.
std::uint32_t source_for(std::uint32_t to, RankMask ranks) {
    const RankMask later = ranks >> to << to;
    return static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : ranks));
}

}  // namespace

bool Block::contains(const Block& other) const {
    return other.is_empty() || (rows.contains(other.rows) && cols.contains(other.cols));
}

Block whole(canonical::Shape shape) { return {IndexSet(0, shape.rows), IndexSet(0, shape.cols)}; }

Block intersection(const Block& a, const Block& b) {
    return {intersection(a.rows, b.rows), intersection(a.cols, b.cols)};
}

Block hull(const Block& a, const Block& b) {
    if (a.is_empty()) {
        return b;
    }
    return b.is_empty() ? a : Block{union_of(a.rows, b.rows), union_of(a.cols, b.cols)};
}

bool covers(const Placement& placement, canonical::Shape shape) {
    const Grid grid = grid_of(placement, shape);
    return std::all_of(grid.rows.begin(), grid.rows.end(), [&](const IndexClass& row) {
        return std::all_of(grid.cols.begin(), grid.cols.end(), [&](const IndexClass& col) {
            return (row.ranks & col.ranks) != 0;
        });
    });
}

std::vector<Transfer> transfers(const Placement& held, const Placement& wanted, canonical::Shape shape) {
    std::vector<Transfer> out;
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t to = 0; to < wanted.size(); ++to) {
        if (!held[to].contains(wanted[to])) {
            lacking.push_back(to);
        }
    }
    if (lacking.empty()) {
        return out;
    }
    const Grid grid = grid_of(held, shape);
    for (const std::uint32_t to : lacking) {
        for (const IndexClass& row : grid.rows) {
            const IndexSet rows = intersection(row.indices, wanted[to].rows);
            for (const IndexClass& col : grid.cols) {
                const RankMask ranks = row.ranks & col.ranks;
                if (rows.is_empty() || ((ranks >> to) & 1U) != 0) {
                    continue;
                }
                IndexSet cols = intersection(col.indices, wanted[to].cols);
                if (!cols.is_empty()) {
                    ASSERT(ranks != 0);
                    out.push_back({source_for(to, ranks), to, {rows, std::move(cols)}});
                }
            }
        }
    }
    return out;
}

}  // namespace assay::plan
