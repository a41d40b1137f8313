// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/index_set.hpp>

#include <algorithm>
#include <map>

#include <core/base/assert.hpp>

namespace assay::plan {

void IndexSet::add(std::uint32_t begin, std::uint32_t end) {
    if (begin >= end) {
        return;
    }
    ASSERT(ranges_.empty() || ranges_.back().end <= begin);
    count_ += end - begin;
    if (!ranges_.empty() && ranges_.back().end == begin) {
        ranges_.back().end = end;
    } else {
        ranges_.push_back({begin, end});
    }
}

bool IndexSet::contains(std::uint32_t index) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), index, [](std::uint32_t i, const Range& range) {
        return i < range.end;
    });
    return after != ranges_.end() && after->begin <= index;
}

bool IndexSet::contains(const IndexSet& other) const { return intersection(*this, other).count() == other.count(); }

std::uint32_t IndexSet::position(std::uint32_t index) const {
    std::uint32_t before = 0;
    for (const Range& range : ranges_) {
        if (index < range.end) {
            return before + (index > range.begin ? index - range.begin : 0);
        }
        before += range.end - range.begin;
    }
    return before;
}

std::vector<std::uint32_t> IndexSet::indices() const {
    std::vector<std::uint32_t> out;
    out.reserve(count_);
    for (const Range& range : ranges_) {
        for (std::uint32_t i = range.begin; i < range.end; ++i) {
            out.push_back(i);
        }
    }
    return out;
}

IndexSet intersection(const IndexSet& a, const IndexSet& b) {
    IndexSet out;
    std::size_t j = 0;
    for (const IndexSet::Range& range : a.ranges()) {
        while (j < b.ranges().size() && b.ranges()[j].end <= range.begin) {
            ++j;
        }
        for (std::size_t k = j; k < b.ranges().size() && b.ranges()[k].begin < range.end; ++k) {
            out.add(std::max(range.begin, b.ranges()[k].begin), std::min(range.end, b.ranges()[k].end));
        }
    }
    return out;
}

IndexSet union_of(const IndexSet& a, const IndexSet& b) {
    std::vector<IndexSet::Range> all = a.ranges();
    all.insert(all.end(), b.ranges().begin(), b.ranges().end());
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.begin < y.begin; });
    IndexSet out;
    std::uint32_t end = 0;
    for (const IndexSet::Range& range : all) {
        out.add(std::max(range.begin, end), range.end);
        end = std::max(end, range.end);
    }
    return out;
}

IndexSet difference(const IndexSet& a, const IndexSet& b) {
    IndexSet out;
    for (const IndexSet::Range& range : a.ranges()) {
        std::uint32_t at = range.begin;
        for (const IndexSet::Range& other : b.ranges()) {
            if (other.end > at && other.begin < range.end) {
                out.add(at, std::min(other.begin, range.end));
                at = std::max(at, other.end);
            }
        }
        out.add(at, range.end);
    }
    return out;
}

std::vector<IndexClass> classes_of(std::span<const IndexSet* const> sets, std::uint32_t size) {
    ASSERT(sets.size() <= kMaxRanks);
    std::map<std::uint32_t, RankMask> changes{{0, 0}};  // at an index: the ranks that begin or stop having it
    for (std::size_t rank = 0; rank < sets.size(); ++rank) {
        for (const IndexSet::Range& range : sets[rank]->ranges()) {
            changes[range.begin] ^= RankMask{1} << rank;
            changes[range.end] ^= RankMask{1} << rank;
        }
    }
    std::map<RankMask, IndexSet> classes;
    RankMask ranks = 0;
    for (auto at = changes.begin(); at != changes.end(); ++at) {
        ranks ^= at->second;
        const auto next = std::next(at);
        const std::uint32_t end = next == changes.end() ? size : next->first;
        if (at->first < end) {
            classes[ranks].add(at->first, end);
        }
    }
    std::vector<IndexClass> out;
    out.reserve(classes.size());
    for (auto& [mask, indices] : classes) {
        out.push_back({mask, std::move(indices)});
    }
    return out;
}

std::vector<IndexSet> cut(std::uint32_t size, std::span<const std::uint32_t> shares) {
    std::uint64_t total = 0;
    for (const std::uint32_t share : shares) {
        total += share;
    }
    ASSERT(total > 0);
    std::vector<IndexSet> out;
    std::uint64_t sum = 0;
    std::uint32_t begin = 0;
    for (const std::uint32_t share : shares) {
        sum += share;
        const auto end = static_cast<std::uint32_t>((sum * size + total / 2) / total);
        out.emplace_back(begin, end);
        begin = end;
    }
    return out;
}

}  // namespace assay::plan
