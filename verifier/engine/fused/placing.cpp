// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/placing.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace assay::engine::fused {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// Gives each value, in the order `less` of their indices, the first gap between those before it that it meets.
template <class Less>
std::size_t place_in_order(std::span<Lifetime> values, Less less) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), less);
    std::vector<const Lifetime*> placed;  // by offset
    std::size_t total = 0;
    for (const std::size_t index : order) {
        Lifetime& value = values[index];
        value.offset = 0;
        for (const Lifetime* other : placed) {
            if (!meet(value, *other)) {
                continue;
            }
            if (other->offset >= value.offset + value.size) {
                break;
            }
            value.offset = std::max(value.offset, other->offset + other->size);
        }
        total = std::max(total, value.offset + value.size);
        const auto at =
            std::upper_bound(placed.begin(), placed.end(), value.offset, [](std::size_t offset, const Lifetime* other) {
                return offset < other->offset;
            });
        placed.insert(at, &value);
    }
    return total;
}

}  // namespace

std::size_t needed_at(std::span<const Lifetime> values, std::size_t stage) {
    std::size_t bytes = 0;
    for (const Lifetime& value : values) {
        bytes += value.first <= stage && stage <= value.last ? value.size : 0;
    }
    return bytes;
}

std::size_t busiest_stage(std::span<const Lifetime> values) {
    std::map<std::size_t, std::pair<std::size_t, std::size_t>> changes;  // stage: bytes that begin, that end after it
    for (const Lifetime& value : values) {
        changes[value.first].first += value.size;
        changes[value.last].second += value.size;
    }
    std::size_t now = 0;
    std::size_t most = 0;
    std::size_t busiest = 0;
    for (const auto& [stage, bytes] : changes) {
        now += bytes.first;
        busiest = now > most ? stage : busiest;
        most = std::max(most, now);
        now -= bytes.second;
    }
    return busiest;
}

std::size_t place(std::span<Lifetime> values) {
    const std::size_t needed = needed_at(values, busiest_stage(values));
    const auto area = [](const Lifetime& value) { return value.size * (value.last - value.first + 1); };
    using Less = std::function<bool(const Lifetime&, const Lifetime&)>;
    const std::array<Less, 4> orders{
        [](const Lifetime& a, const Lifetime& b) { return a.first < b.first; },
        [](const Lifetime& a, const Lifetime& b) { return a.size > b.size; },
        [area](const Lifetime& a, const Lifetime& b) { return area(a) > area(b); },
        [](const Lifetime& a, const Lifetime& b) { return a.last - a.first > b.last - b.first; },
    };
    std::size_t least = 0;
    std::vector<Lifetime> best;
    for (const Less& less : orders) {
        const std::size_t total =
            place_in_order(values, [&](std::size_t a, std::size_t b) { return less(values[a], values[b]); });
        if (best.empty() || total < least) {
            least = total;
            best.assign(values.begin(), values.end());
        }
        if (least <= needed + needed / 10) {
            break;
        }
    }
    std::copy(best.begin(), best.end(), values.begin());
    return least;
}

std::size_t SameSize::take(std::size_t size) {
    if (const auto found = free_.find(size); found != free_.end()) {
        const std::size_t offset = found->second;
        free_.erase(found);
        return offset;
    }
    const std::size_t offset = size_bytes_;
    size_bytes_ += size;
    return offset;
}

}  // namespace assay::engine::fused
