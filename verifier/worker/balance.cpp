// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/balance.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <core/canonical/tile.hpp>
#include <verifier/plan/index_set.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/worker/together_session.hpp>

namespace assay::worker {
namespace {

constexpr double kWorthIt = 0.9;        // of the time that the slowest rank computes now
constexpr std::size_t kPlansMax = 4;    // that are made to see whether members can answer for their parts
constexpr double kLeastSeconds = 1e-9;  // of a rank that computed too short a time to be measured

using Counts = std::vector<std::uint32_t>;

std::vector<AccountId> list_of(const std::vector<AccountId>& accounts, const Counts& seats) {
    std::vector<AccountId> out;
    for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
        out.insert(out.end(), seats[rank], accounts[rank]);
    }
    return out;
}

Counts rows_of(const program::Program& program, const Counts& seats) {
    Counts out;
    for (const plan::IndexSet& part : plan::cut(program.batch_size, seats)) {
        out.push_back(part.count());
    }
    return out;
}

double slowest(const Counts& rows, const std::vector<double>& rows_per_s) {
    double out = 0.0;
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
        out = std::max(out, rows[rank] / rows_per_s[rank]);
    }
    return out;
}

/// So many seats, each given to the rank that needs the least time for one more. Every rank has one.
Counts deal(std::size_t count, const std::vector<double>& rows_per_s) {
    Counts out(rows_per_s.size(), 1);
    for (std::size_t given = out.size(); given < count; ++given) {
        std::size_t best = 0;
        for (std::size_t rank = 1; rank < out.size(); ++rank) {
            best = (out[rank] + 1) / rows_per_s[rank] < (out[best] + 1) / rows_per_s[best] ? rank : best;
        }
        ++out[best];
    }
    return out;
}

/// The depths of the sums of which a part is one rank's rows of the batch, as multiples of the batch.
std::vector<std::uint64_t> depths_per_row(const program::Program& program, const plan::Layout& layout) {
    const plan::Plan plan = plan::make_plan(program, layout);
    std::vector<std::uint64_t> out;
    for (std::size_t node = 0; node < plan.nodes.size(); ++node) {
        std::uint64_t depth = 0;
        for (const plan::IndexSet& part : plan.nodes[node].depth) {
            depth += part.count();
        }
        if (depth != 0 && depth % program.batch_size == 0) {
            out.push_back(depth / program.batch_size);
        }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

/// Whether each part begins at whole partials, for what that costs nothing to see.
bool may_be_stated(const Counts& rows, const std::vector<std::uint64_t>& depths) {
    std::uint64_t end = 0;
    for (std::size_t rank = 0; rank + 1 < rows.size(); ++rank) {
        end += rows[rank];
        const bool is_whole = std::all_of(depths.begin(), depths.end(), [&](std::uint64_t depth) {
            return end * depth % canonical::kTileDim == 0;
        });
        if (!is_whole) {
            return false;
        }
    }
    return std::none_of(rows.begin(), rows.end(), [](std::uint32_t count) { return count == 0; });
}

bool is_divided_by_rows(const plan::Layout& layout) { return layout.data > 1 && layout.data == layout.ranks(); }

}  // namespace

Counts shares_of(const Counts& seats) {
    const bool has_none = std::any_of(seats.begin(), seats.end(), [](std::uint32_t count) { return count == 0; });
    const bool are_alike = std::adjacent_find(seats.begin(), seats.end(), std::not_equal_to<>()) == seats.end();
    if (has_none || are_alike) {
        return {};
    }
    const std::uint32_t divisor = std::accumulate(seats.begin(), seats.end(), 0U, [](std::uint32_t a, std::uint32_t b) {
        return std::gcd(a, b);
    });
    Counts out = seats;
    for (std::uint32_t& count : out) {
        count /= divisor;
    }
    return out;
}

plan::Layout with_seats(const program::Program& program, plan::Layout layout, const Counts& seats) {
    layout.shares.clear();
    plan::Layout out = layout;
    out.shares = shares_of(seats);
    const bool may_differ = !out.shares.empty() && is_divided_by_rows(layout) && seats.size() == layout.data;
    return may_differ && can_state(program, out) ? out : layout;
}

Counts balanced_seats(const program::Program& program, const MeasuredSegment& measured, std::size_t seats_max) {
    const plan::Layout& layout = measured.layout;
    if (!is_divided_by_rows(layout) || measured.busy_s.size() != layout.data) {
        return {};
    }
    const Counts rows_now = rows_of(program, layout.data_shares());
    std::vector<double> rows_per_s;
    for (std::uint32_t rank = 0; rank < layout.data; ++rank) {
        rows_per_s.push_back(std::max(rows_now[rank], 1U) / std::max(measured.busy_s[rank], kLeastSeconds));
    }
    plan::Layout alike = layout;
    alike.shares.clear();
    const std::vector<std::uint64_t> depths = depths_per_row(program, alike);
    struct Candidate {
        double time_s;
        Counts seats;
    };
    std::vector<Candidate> candidates;
    for (std::size_t count = layout.data; count <= seats_max; ++count) {
        Counts seats = deal(count, rows_per_s);
        const Counts rows = rows_of(program, seats);
        if (may_be_stated(rows, depths)) {
            candidates.push_back({slowest(rows, rows_per_s), std::move(seats)});
        }
    }
    // Of those that are as fast the one with the fewest seats.
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.time_s < b.time_s;
    });
    candidates.resize(std::min(candidates.size(), kPlansMax));
    const double now = slowest(rows_now, rows_per_s);
    for (const Candidate& candidate : candidates) {
        plan::Layout next = alike;
        next.shares = shares_of(candidate.seats);
        if (candidate.time_s < kWorthIt * now && can_state(program, next)) {
            return candidate.seats;
        }
    }
    return {};
}

void Balance::note(const program::Program& program, const MeasuredSegment& measured, std::size_t seats_max) {
    if (measured.accounts != accounts_) {
        // Somebody came or went: what was wanted is of others.
        accounts_ = measured.accounts;
        wanted_.clear();
    }
    const bool is_in_effect = !wanted_.empty() && shares_of(after_) == measured.layout.shares;
    if (is_in_effect) {
        wanted_.clear();
        ++trials_;
        if (!is_over_ && measured.step_s >= step_before_s_) {
            is_over_ = true;
            wanted_ = list_of(accounts_, before_);
            after_ = before_;
            return;
        }
    }
    // It may have been given already, for a later segment.
    const bool is_awaited = !wanted_.empty() && ++waited_ < kWaitsMax;
    if (is_over_ || is_awaited || trials_ >= kTrialsMax) {
        return;
    }
    const Counts next = balanced_seats(program, measured, seats_max);
    wanted_.clear();
    if (!next.empty()) {
        before_ = measured.layout.data_shares();
        after_ = next;
        step_before_s_ = measured.step_s;
        wanted_ = list_of(accounts_, next);
        waited_ = 0;
    }
}

}  // namespace assay::worker
