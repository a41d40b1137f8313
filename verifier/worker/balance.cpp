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

bool is_divided_by_rows(const plan::Layout& layout) { return layout.data > 1 && layout.data == layout.ranks(); }
bool is_divided_by_stages(const plan::Layout& layout) { return layout.stages > 1 && layout.stages == layout.ranks(); }
bool is_divided_by_columns(const plan::Layout& layout) { return layout.tensor > 1 && layout.tensor == layout.ranks(); }

/// Of what is divided among the ranks; nothing if that are several things.
Counts* shares_in(plan::Layout& layout) {
    return is_divided_by_rows(layout)      ? &layout.shares
           : is_divided_by_stages(layout)  ? &layout.stage_shares
           : is_divided_by_columns(layout) ? &layout.tensor_shares
                                           : nullptr;
}
plan::Layout with_shares(const plan::Layout& layout, Counts shares) {
    plan::Layout out = layout.without_shares();
    if (Counts* const divided = shares_in(out)) {
        *divided = std::move(shares);
    }
    return out;
}

Counts rows_of(const program::Program& program, const plan::Layout& layout) {
    Counts out;
    for (const plan::IndexSet& part : plan::cut(program.batch_size, layout.data_shares())) {
        out.push_back(part.count());
    }
    return out;
}

/// How much each rank has of what is divided: rows of the batch, or multiply-adds.
std::vector<std::uint64_t> amounts_of(const program::Program& program, const plan::Layout& layout) {
    if (is_divided_by_stages(layout)) {
        return plan::work_of_stages(program, layout);
    }
    if (is_divided_by_columns(layout)) {
        const plan::Plan plan = plan::make_plan(program, layout);
        std::vector<std::uint64_t> out;
        for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
            out.push_back(plan::work_of(plan, program.step, rank));
        }
        return out;
    }
    const Counts rows = rows_of(program, layout);
    return {rows.begin(), rows.end()};
}

double slowest(const std::vector<std::uint64_t>& amounts, const std::vector<double>& speeds) {
    double out = 0.0;
    for (std::size_t rank = 0; rank < amounts.size(); ++rank) {
        out = std::max(out, static_cast<double>(amounts[rank]) / speeds[rank]);
    }
    return out;
}

/// What a rank computes for each of its seats, of the one for which that is most.
std::uint64_t most_for_a_seat(const std::vector<std::uint64_t>& amounts, const Counts& seats) {
    std::uint64_t out = 0;
    for (std::size_t rank = 0; rank < amounts.size(); ++rank) {
        out = std::max(out, amounts[rank] / seats[rank]);
    }
    return out;
}

/// So many seats, each given to the rank that needs the least time for one more. Every rank has one.
Counts deal(std::size_t count, const std::vector<double>& speeds) {
    Counts out(speeds.size(), 1);
    for (std::size_t given = out.size(); given < count; ++given) {
        std::size_t best = 0;
        for (std::size_t rank = 1; rank < out.size(); ++rank) {
            best = (out[rank] + 1) / speeds[rank] < (out[best] + 1) / speeds[best] ? rank : best;
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
        count /= std::max(divisor, 1U);
    }
    return out;
}

plan::Layout with_seats(const program::Program& program, plan::Layout layout, const Counts& seats) {
    layout = layout.without_shares();
    if (seats.size() != layout.ranks()) {
        return layout;
    }
    const plan::Layout out = with_shares(layout, shares_of(seats));
    if (!out.has_shares()) {
        return layout;
    }
    const bool is_nearer = is_divided_by_rows(layout) || most_for_a_seat(amounts_of(program, out), seats) <
                                                             most_for_a_seat(amounts_of(program, layout), seats);
    return is_nearer && can_state(program, out) ? out : layout;
}

bool follows(const program::Program& program, const plan::Layout& layout, const Counts& seats) {
    // Of a layout in which members can answer for their parts, rows that are as the seats need no second look.
    const bool has_rows = is_divided_by_rows(layout) && layout == with_shares(layout, shares_of(seats));
    return has_rows || with_seats(program, layout, seats) == layout;
}

Counts balanced_seats(const program::Program& program, const MeasuredSegment& measured, std::size_t seats_max) {
    const plan::Layout& layout = measured.layout;
    const bool has_ranks = is_divided_by_rows(layout) || is_divided_by_stages(layout);
    if (!has_ranks || measured.busy_s.size() != layout.ranks()) {
        return {};
    }
    std::vector<std::uint64_t> amounts_now = amounts_of(program, layout);
    std::vector<double> speeds;
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        amounts_now[rank] = std::max<std::uint64_t>(amounts_now[rank], 1);
        speeds.push_back(static_cast<double>(amounts_now[rank]) / std::max(measured.busy_s[rank], kLeastSeconds));
    }
    const plan::Layout alike = layout.without_shares();
    const std::vector<std::uint64_t> depths =
        is_divided_by_rows(layout) ? depths_per_row(program, alike) : std::vector<std::uint64_t>();
    struct Candidate {
        double time_s;
        Counts seats;
    };
    std::vector<Candidate> candidates;
    for (std::size_t count = layout.ranks(); count <= seats_max; ++count) {
        Counts seats = deal(count, speeds);
        const plan::Layout next = with_shares(layout, shares_of(seats));
        if (is_divided_by_stages(layout) || may_be_stated(rows_of(program, next), depths)) {
            candidates.push_back({slowest(amounts_of(program, next), speeds), std::move(seats)});
        }
    }
    // Of those that are as fast the one with the fewest seats.
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.time_s < b.time_s;
    });
    candidates.resize(std::min(candidates.size(), kPlansMax));
    const double now = slowest(amounts_now, speeds);
    for (const Candidate& candidate : candidates) {
        const plan::Layout next = with_shares(layout, shares_of(candidate.seats));
        if (candidate.time_s < kWorthIt * now && with_seats(program, next, candidate.seats) == next) {
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
    plan::Layout layout = measured.layout;
    const Counts shares = shares_in(layout) == nullptr ? Counts() : *shares_in(layout);
    const bool is_in_effect = !wanted_.empty() && shares_of(after_) == shares;
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
        before_ = shares.empty() ? Counts(next.size(), 1) : shares;
        after_ = next;
        step_before_s_ = measured.step_s;
        wanted_ = list_of(accounts_, next);
        waited_ = 0;
    }
}

}  // namespace assay::worker
