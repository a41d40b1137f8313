// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/arrange.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/schedule/matching.hpp>

namespace assay::schedule {
namespace {

// SplitMix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t out = state_;
        out = (out ^ (out >> 30U)) * 0xbf58476d1ce4e5b9U;
        out = (out ^ (out >> 27U)) * 0x94d049bb133111ebU;
        return out ^ (out >> 31U);
    }
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(((next() >> 32U) * limit) >> 32U); }
    /// Above 0, at most 1.
    double fraction() { return (static_cast<double>(next() >> 11U) + 1.0) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

// Of the machine `self` with the others of its stage.
double exchange_of(
    const Network& network, const Crossing& crossing, const std::uint32_t* stage, std::uint32_t width,
    std::uint32_t self
) {
    const double bytes = crossing.exchange_bytes / width;
    double delays = 0.0;
    double transfers = 0.0;
    for (std::uint32_t other = 0; other < width; ++other) {
        if (other == self) {
            continue;
        }
        const Link& link = network.between(stage[self], stage[other]);
        const double delay = crossing.exchange_rounds * link.delay_s;
        delays = crossing.delays == Delays::kAdd ? delays + delay : std::max(delays, delay);
        transfers += bytes / link.bytes_per_s;
    }
    return delays + transfers;
}

struct StageExchange {
    double slowest = 0.0;
    double sum = 0.0;  // of all its machines
};
StageExchange exchange_of_stage(
    const Network& network, const Crossing& crossing, const std::uint32_t* stage, std::uint32_t width
) {
    StageExchange out;
    for (std::uint32_t self = 0; self < width; ++self) {
        const double seconds = exchange_of(network, crossing, stage, width, self);
        out.slowest = std::max(out.slowest, seconds);
        out.sum += seconds;
    }
    return out;
}

CostMatrix handovers_between(
    const Network& network, const Crossing& crossing, const std::uint32_t* a, const std::uint32_t* b,
    std::uint32_t width
) {
    CostMatrix costs(width);
    for (std::uint32_t row = 0; row < width; ++row) {
        for (std::uint32_t column = 0; column < width; ++column) {
            costs.at(row, column) = handover_seconds(crossing, network.between(a[row], b[column]));
        }
    }
    return costs;
}

Matching match_stages(
    const Network& network, const Crossing& crossing, const std::uint32_t* a, const std::uint32_t* b,
    std::uint32_t width
) {
    return bottleneck_matching(handovers_between(network, crossing, a, b, width));
}

// The mean of what each machine of two stages would take to its nearest one of the other.
double nearest_of(const CostMatrix& costs) {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < costs.size; ++i) {
        double row = costs.at(i, 0);
        double column = costs.at(0, i);
        for (std::uint32_t k = 1; k < costs.size; ++k) {
            row = std::min(row, costs.at(i, k));
            column = std::min(column, costs.at(k, i));
        }
        sum += row + column;
    }
    return sum / (2.0 * costs.size);
}

// An arrangement, with the costs of its parts so that a swap computes only what it changes.
class State {
  public:
    State(
        const Network& network, const Crossing& crossing, const Grid& grid, std::vector<std::uint32_t> machines,
        const std::vector<double>& compute_s
    )
        : network_(network),
          crossing_(crossing),
          grid_(grid),
          machines_(std::move(machines)),
          compute_s_(compute_s),
          exchanges_(grid.stages),
          handovers_(grid.stages),
          nearest_(grid.stages) {
        for (std::uint32_t stage = 0; stage < grid_.stages; ++stage) {
            update(stage);
        }
        evaluate();
    }

    // Positions from grid.size() on are idle.
    std::uint32_t group_of(std::uint32_t position) const { return std::min(position / grid_.width, grid_.stages); }
    void swap(std::uint32_t a, std::uint32_t b) {
        std::swap(machines_[a], machines_[b]);
        update(group_of(a));
        update(group_of(b));
        evaluate();
    }
    std::uint32_t size() const { return grid_.size(); }
    double cost() const { return cost_; }
    /// What the search makes small: the cost, and shares of the means over all machines and stages. In the cost the
    /// slowest machine alone counts, so most swaps would change nothing.
    double energy() const { return energy_; }
    const std::vector<std::uint32_t>& machines() const { return machines_; }

  private:
    const std::uint32_t* stage(std::uint32_t index) const {
        return machines_.data() + std::size_t{index} * grid_.width;
    }
    void update(std::uint32_t changed) {
        if (changed == grid_.stages) {
            return;
        }
        exchanges_[changed] = exchange_of_stage(network_, crossing_, stage(changed), grid_.width);
        for (std::uint32_t other = 0; other < grid_.stages; ++other) {
            if (other != changed) {
                const CostMatrix costs =
                    handovers_between(network_, crossing_, stage(changed), stage(other), grid_.width);
                handovers_.at(changed, other) = bottleneck_matching(costs).cost;
                handovers_.at(other, changed) = handovers_.at(changed, other);
                nearest_.at(changed, other) = nearest_of(costs);
                nearest_.at(other, changed) = nearest_.at(changed, other);
            }
        }
    }
    void evaluate() {
        double slowest = 0.0;
        double sum = 0.0;
        for (const StageExchange& exchange : exchanges_) {
            slowest = std::max(slowest, exchange.slowest);
            sum += exchange.sum;
        }
        cost_ = slowest + open_path(handovers_).length;
        slowest = 0.0;
        for (std::uint32_t i = 0; i < grid_.size() && !compute_s_.empty(); ++i) {
            slowest = std::max(slowest, compute_s_[machines_[i]]);
        }
        cost_ += slowest;
        const double near = std::accumulate(nearest_.values.begin(), nearest_.values.end(), 0.0);
        energy_ = cost_ + kExchangeShare * sum / grid_.size() + kHandoverShare * near / grid_.stages;
    }

    // Found by trial on the scenarios of the tests.
    static constexpr double kExchangeShare = 0.3;
    static constexpr double kHandoverShare = 1.0;

    const Network& network_;
    const Crossing& crossing_;
    Grid grid_;
    std::vector<std::uint32_t> machines_;
    const std::vector<double>& compute_s_;
    std::vector<StageExchange> exchanges_;
    CostMatrix handovers_;  // between any two stages
    CostMatrix nearest_;    // likewise
    double cost_ = 0.0;
    double energy_ = 0.0;
};

struct Found {
    double cost = 0.0;
    std::vector<std::uint32_t> machines{};
};
// Temperatures are shares of the first energy: at first swaps are taken that cost some hundredths of it.
Found anneal(State& state, std::uint32_t tries, Random& random) {
    constexpr double kHot = 0.02;
    constexpr double kCold = 1e-4;
    Found best{state.cost(), state.machines()};
    double temperature = kHot * state.energy();
    const double cooling = std::pow(kCold / kHot, 1.0 / std::max(1U, tries));
    for (std::uint32_t i = 0; i < tries; ++i) {
        temperature *= cooling;
        const std::uint32_t a = random.below(state.size());
        const std::uint32_t b = random.below(static_cast<std::uint32_t>(state.machines().size()));
        if (state.group_of(a) == state.group_of(b)) {
            continue;
        }
        const double before = state.energy();
        state.swap(a, b);
        const double worse = state.energy() - before;
        if (worse > 0.0 && worse > -temperature * std::log(random.fraction())) {
            state.swap(a, b);
        } else if (state.cost() < best.cost) {
            best = {state.cost(), state.machines()};
        }
    }
    return best;
}

std::vector<std::uint32_t> shuffled(std::uint32_t machines, Random& random) {
    std::vector<std::uint32_t> out(machines);
    std::iota(out.begin(), out.end(), 0U);
    for (std::uint32_t i = machines; i > 1; --i) {
        std::swap(out[i - 1], out[random.below(i)]);
    }
    return out;
}

}  // namespace

double exchange_seconds(const Crossing& crossing, const Link& link, std::uint32_t width) {
    return crossing.exchange_rounds * link.delay_s + crossing.exchange_bytes / width / link.bytes_per_s;
}

double handover_seconds(const Crossing& crossing, const Link& link) {
    return crossing.handover_rounds * link.delay_s + crossing.handover_bytes / link.bytes_per_s;
}

CommunicationCost cost_of(const Network& network, const Crossing& crossing, const Arrangement& arrangement) {
    const Grid& grid = arrangement.grid;
    CommunicationCost out;
    for (std::uint32_t stage = 0; stage < grid.stages; ++stage) {
        const std::uint32_t* machines = arrangement.machines.data() + std::size_t{stage} * grid.width;
        out.exchange_s = std::max(out.exchange_s, exchange_of_stage(network, crossing, machines, grid.width).slowest);
        double slowest = 0.0;
        for (std::uint32_t replica = 0; replica < grid.width && stage > 0; ++replica) {
            const Link& link = network.between(arrangement.at(stage - 1, replica), arrangement.at(stage, replica));
            slowest = std::max(slowest, handover_seconds(crossing, link));
        }
        out.handover_s += slowest;
    }
    return out;
}

Arrangement put_in_order(const Network& network, const Crossing& crossing, const Arrangement& arrangement) {
    const Grid& grid = arrangement.grid;
    const auto stage = [&](std::uint32_t index) {
        return arrangement.machines.data() + std::size_t{index} * grid.width;
    };
    CostMatrix lengths(grid.stages);
    for (std::uint32_t a = 0; a < grid.stages; ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            lengths.at(a, b) = match_stages(network, crossing, stage(a), stage(b), grid.width).cost;
            lengths.at(b, a) = lengths.at(a, b);
        }
    }
    const Path path = open_path(lengths);
    Arrangement out{grid, {}};
    out.machines.assign(stage(path.points[0]), stage(path.points[0]) + grid.width);
    for (std::uint32_t i = 1; i < grid.stages; ++i) {
        const std::uint32_t* before = out.machines.data() + std::size_t{i - 1} * grid.width;
        const std::uint32_t* next = stage(path.points[i]);
        const Matching matching = match_stages(network, crossing, before, next, grid.width);
        for (const std::uint32_t column : matching.column) {
            out.machines.push_back(next[column]);
        }
    }
    return out;
}

Arrangement search(const Network& network, const Crossing& crossing, const Grid& grid, const SearchOptions& options) {
    ASSERT(grid.size() >= 1 && grid.width <= kMaxMatched && grid.size() <= network.size());
    ASSERT(options.compute_s.empty() || options.compute_s.size() == network.size());
    Random random(options.seed);
    std::vector<std::uint32_t> best;
    double best_cost = 0.0;
    const bool is_fixed = grid.stages == 1 && grid.size() == network.size();  // nothing to choose
    for (std::uint32_t start = 0; start < options.starts && (start == 0 || !is_fixed); ++start) {
        const bool is_in_order = start == 0 && (options.keeps_order || is_fixed);
        std::vector<std::uint32_t> first(network.size());
        std::iota(first.begin(), first.end(), 0U);
        State state(network, crossing, grid, is_in_order ? first : shuffled(network.size(), random), options.compute_s);
        Found found = anneal(state, is_fixed ? 0 : options.tries, random);
        if (start == 0 || found.cost < best_cost) {
            best = std::move(found.machines);
            best_cost = found.cost;
        }
    }
    best.resize(grid.size());
    return put_in_order(network, crossing, {grid, std::move(best)});
}

Arrangement random_arrangement(std::uint32_t machines, const Grid& grid, std::uint64_t seed) {
    ASSERT(grid.size() <= machines);
    Random random(seed);
    Arrangement out{grid, shuffled(machines, random)};
    out.machines.resize(grid.size());
    return out;
}

}  // namespace assay::schedule
