// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/speed.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include <verifier/plan/index_set.hpp>
#include <verifier/plan/plan.hpp>

namespace assay::cell {
namespace {

using plan::Layout;
using Shares = std::vector<std::uint32_t>;

constexpr double kWorthIt = 0.9;        // of the time that the slowest rank computes now
constexpr double kLeastSeconds = 1e-9;  // of a rank that computed too short a time to be measured
constexpr double kShareSum = 100.0;     // of stages and columns, which nodes and heads follow no closer
constexpr double kLeastStage = 0.25;    // of an equal one: a rank without work could not show that it is fast

enum Dimension : std::uint32_t { kData, kStages, kTensor, kDimensions };

std::uint32_t parts_of(const Layout& layout, std::uint32_t dimension) {
    return dimension == kData ? layout.data : dimension == kStages ? layout.stages : layout.tensor;
}

std::uint32_t index_of(const Layout& layout, std::uint32_t dimension, std::uint32_t rank) {
    return dimension == kData     ? layout.data_index(rank)
           : dimension == kStages ? layout.stage_index(rank)
                                  : layout.tensor_index(rank);
}

std::vector<double> work_of(const plan::Plan& plan, const canonical::Graph& graph) {
    std::vector<double> out;
    for (std::uint32_t rank = 0; rank < plan.layout.ranks(); ++rank) {
        out.push_back(std::max(1.0, static_cast<double>(plan::work_of(plan, graph, rank))));
    }
    return out;
}

class Speeds {
  public:
    Speeds(const program::Program& program, const Layout& layout, const std::vector<double>& busy_s)
        : program_(program), layout_(layout), work_(work_of(plan::make_plan(program, layout), program.step)) {
        for (std::size_t rank = 0; rank < busy_s.size(); ++rank) {
            busy_s_.push_back(std::max(busy_s[rank], kLeastSeconds));
        }
    }

    double now() const { return *std::max_element(busy_s_.begin(), busy_s_.end()); }

    // For how long the slowest rank would compute.
    double seconds(const Layout& next) const {
        const std::vector<double> work = work_of(plan::make_plan(program_, next), program_.step);
        double out = 0.0;
        for (std::size_t rank = 0; rank < work.size(); ++rank) {
            out = std::max(out, work[rank] / work_[rank] * busy_s_[rank]);
        }
        return out;
    }

    // Gives the parts of a dimension shares by the speed of the slowest rank of each.
    void give(Layout& out, std::uint32_t dimension) const {
        std::vector<double> speeds(parts_of(layout_, dimension), std::numeric_limits<double>::infinity());
        for (std::uint32_t rank = 0; rank < layout_.ranks(); ++rank) {
            double& of_part = speeds[index_of(layout_, dimension, rank)];
            of_part = std::min(of_part, work_[rank] / busy_s_[rank]);
        }
        const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
        const double all = dimension == kData ? 1e6 : kShareSum;
        const double least = dimension == kStages ? kLeastStage * all / static_cast<double>(speeds.size()) : 1.0;
        Shares shares;
        for (const double speed : speeds) {
            const double share = std::max(least, all * speed / sum);
            shares.push_back(std::max(1U, static_cast<std::uint32_t>(std::lround(share))));
        }
        if (dimension == kData) {
            out.shares.clear();
            for (const plan::IndexSet& rows : plan::cut(program_.batch_size, shares)) {
                out.shares.push_back(std::max(rows.count(), 1U));  // a rank without rows could not show that it is fast
            }
            return;
        }
        (dimension == kStages ? out.stage_shares : out.tensor_shares) = std::move(shares);
    }

  private:
    const program::Program& program_;
    const Layout& layout_;
    std::vector<double> work_;  // of each rank
    std::vector<double> busy_s_;
};

}  // namespace

std::optional<Layout> by_speed(
    const program::Program& program, const Layout& layout, const std::vector<double>& busy_s
) {
    if (layout.turns > 1 || layout.ranks() < 2 || busy_s.size() != layout.ranks()) {
        return std::nullopt;
    }
    const Speeds speeds(program, layout, busy_s);
    std::optional<Layout> best;
    double best_s = kWorthIt * speeds.now();
    for (std::uint32_t chosen = 1; chosen < 1U << kDimensions; ++chosen) {
        Layout next = layout;
        bool has_parts = true;
        for (std::uint32_t dimension = 0; dimension < kDimensions; ++dimension) {
            if ((chosen >> dimension & 1U) != 0) {
                has_parts = has_parts && parts_of(layout, dimension) > 1;
                speeds.give(next, dimension);
            }
        }
        if (!has_parts || next == layout) {
            continue;
        }
        if (const double seconds = speeds.seconds(next); seconds < best_s) {
            best = std::move(next);
            best_s = seconds;
        }
    }
    return best;
}

}  // namespace assay::cell
