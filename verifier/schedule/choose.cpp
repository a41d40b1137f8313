// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/choose.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/schedule/matching.hpp>

namespace assay::schedule {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint32_t kMaxStages = 16;
constexpr std::uint32_t kFew = 16;  // machines with which every grid is tried

bool is_in_site(const Link& link, const Link& site) {
    return link.delay_s <= site.delay_s && link.bytes_per_s >= site.bytes_per_s;
}

// Links between groups are as slow as the slowest between machines of the same place in both.
Network between_groups(const Network& network, const Groups& groups) {
    Network out(static_cast<std::uint32_t>(groups.size()), {});
    for (std::uint32_t a = 0; a < groups.size(); ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            Link link = network.between(groups[a][0], groups[b][0]);
            for (std::size_t i = 1; i < groups[a].size(); ++i) {
                const Link& other = network.between(groups[a][i], groups[b][i]);
                link.delay_s = std::max(link.delay_s, other.delay_s);
                link.bytes_per_s = std::min(link.bytes_per_s, other.bytes_per_s);
            }
            out.set(a, b, link);
        }
    }
    return out;
}

Groups singles(std::size_t count) {
    Groups out;
    for (std::uint32_t i = 0; i < count; ++i) {
        out.push_back({i});
    }
    return out;
}

class Chooser {
  public:
    Chooser(
        const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
        const ChoiceOptions& options
    )
        : profile_(profile),
          machines_(machines),
          links_(network),
          network_(as_processed(network, machines)),
          options_(options) {}

    Choice run() {
        for (std::uint32_t tensor = 1; tensor <= machines_.size(); tensor *= 2) {
            const Groups groups =
                tensor == 1 ? singles(machines_.size()) : tensor_groups(machines_, links_, options_.site, tensor);
            const auto count = static_cast<std::uint32_t>(groups.size());
            for (std::uint32_t stages = 1; stages <= std::min(count, kMaxStages); ++stages) {
                for (std::uint32_t data = 1; stages * data <= count; ++data) {
                    if (is_worth_trying(count, stages, data)) {
                        try_grid(groups, {.data = data, .tensor = tensor, .stages = stages});
                    }
                }
            }
        }
        try_turns();
        return finish();
    }

  private:
    bool is_worth_trying(std::uint32_t count, std::uint32_t stages, std::uint32_t data) const {
        const std::uint32_t most = count / stages;
        const bool is_all_or_half = data == most || data == most / 2 || data == 1;
        return data <= profile_.batch_rows && (stages == 1 || count <= kFew || is_all_or_half);
    }

    double memory_of_group(const std::vector<std::uint32_t>& group) const {
        double out = machines_[group[0]].memory_bytes;
        for (const std::uint32_t machine : group) {
            out = std::min(out, machines_[machine].memory_bytes);
        }
        return out;
    }

    double speed_of_group(const std::vector<std::uint32_t>& group) const {
        double out = machines_[group[0]].multiply_adds_per_s;
        for (const std::uint32_t machine : group) {
            out = std::min(out, machines_[machine].multiply_adds_per_s);
        }
        return out;
    }

    // The same grid with each stage of ZeRO. Groups without the memory are left out.
    void try_grid(const Groups& all, plan::Layout layout) {
        const std::uint32_t needed = layout.data * layout.stages;
        const int levels = layout.data > 1 ? 4 : 1;
        Groups groups;
        Arrangement arrangement;
        for (int zero = 0; zero < levels; ++zero) {
            layout.zero = static_cast<plan::Zero>(zero);
            const std::uint32_t rows = (profile_.batch_rows + layout.data - 1) / layout.data;
            const double memory = memory_of(profile_, layout, rows);
            Groups fitting;
            std::copy_if(all.begin(), all.end(), std::back_inserter(fitting), [&](const auto& group) {
                return memory_of_group(group) >= memory;
            });
            if (fitting.size() < needed) {
                note_shortage(all, layout, memory);
                continue;
            }
            if (groups.size() != fitting.size()) {  // more ZeRO, more of them fit
                groups = std::move(fitting);
                arrangement = arrange(groups, layout, 1, kRough);
            }
            keep(groups, layout, arrangement);
        }
    }

    Arrangement arrange(const Groups& groups, const plan::Layout& layout, std::uint32_t starts, std::uint32_t tries)
        const {
        SearchOptions search_options{.seed = options_.seed, .starts = starts, .keeps_order = true, .tries = tries};
        for (const auto& group : groups) {
            search_options.compute_s.push_back(profile_.work / layout.ranks() / speed_of_group(group));
        }
        const Grid grid{.stages = layout.stages, .width = layout.data};
        return search(between_groups(network_, groups), crossing_of(profile_, layout), grid, search_options);
    }

    void keep(const Groups& groups, const plan::Layout& layout, const Arrangement& arrangement) {
        Prediction found = predict(profile_, machines_, network_, options_, layout, groups, arrangement);
        if (std::count(found.layout.shares.begin(), found.layout.shares.end(), 0U) > 0) {
            return;  // fewer machines do the same
        }
        Best& best = best_[static_cast<std::size_t>(found.kind)];
        if (!best.prediction || found.total_s() < best.prediction->total_s()) {
            best = {std::move(found), groups, layout};
        }
    }

    void note_shortage(const Groups& groups, const plan::Layout& layout, double needed_bytes) {
        const std::size_t count = std::size_t{layout.data} * layout.stages;
        if (shortage_ && shortage_->needed_bytes <= needed_bytes) {
            return;
        }
        std::vector<double> memory;
        for (const auto& group : groups) {
            memory.push_back(memory_of_group(group));
        }
        std::sort(memory.rbegin(), memory.rend());
        shortage_ = Shortage{layout, needed_bytes, memory[count - 1]};
    }

    void try_turns() {
        for (std::uint32_t count = 2; count <= std::min<std::size_t>(machines_.size(), profile_.batch_rows); ++count) {
            const std::uint32_t rows = (profile_.batch_rows + count - 1) / count;
            const double memory = memory_of(profile_, {}, rows) + profile_.parameter_bytes;
            Groups groups = singles(machines_.size());
            groups.erase(
                std::remove_if(
                    groups.begin(), groups.end(), [&](const auto& group) { return memory_of_group(group) < memory; }
                ),
                groups.end()
            );
            if (groups.size() < count) {
                continue;
            }
            SearchOptions search_options{.seed = options_.seed, .starts = 1, .keeps_order = true, .tries = kRough};
            for (const auto& group : groups) {
                search_options.compute_s.push_back(profile_.work / count / speed_of_group(group));
            }
            const Crossing crossing = crossing_of_turns(profile_, options_, count);
            const Arrangement found = search(between_groups(network_, groups), crossing, {1, count}, search_options);
            std::vector<std::uint32_t> replicas;
            for (const std::uint32_t index : found.machines) {
                replicas.push_back(groups[index][0]);
            }
            Prediction prediction = predict_turns(profile_, machines_, network_, options_, std::move(replicas));
            Best& best = best_[static_cast<std::size_t>(Kind::kTurns)];
            if (!best.prediction || prediction.total_s() < best.prediction->total_s()) {
                best.prediction = std::move(prediction);
            }
        }
    }

    // Looks longer for the arrangement of each kind's best.
    Choice finish() {
        Choice out;
        for (Best& best : best_) {
            if (!best.prediction) {
                continue;
            }
            if (!best.groups.empty()) {
                const Arrangement longer = arrange(best.groups, best.layout, 2, kThorough);
                Prediction found = predict(profile_, machines_, network_, options_, best.layout, best.groups, longer);
                if (found.total_s() < best.prediction->total_s()) {
                    best.prediction = std::move(found);
                }
            }
            const bool is_faster = best.prediction->can_start() &&
                                   (!out.fastest || best.prediction->total_s() < out.best[*out.fastest].total_s());
            out.fastest = is_faster ? std::optional(out.best.size()) : out.fastest;
            out.best.push_back(*std::move(best.prediction));
        }
        if (out.best.empty()) {
            out.shortage = shortage_;
        }
        return out;
    }

    static constexpr std::uint32_t kRough = 400;  // swaps
    static constexpr std::uint32_t kThorough = 5'000;

    struct Best {
        std::optional<Prediction> prediction{};
        Groups groups{};
        plan::Layout layout{};
    };

    const StepProfile& profile_;
    const std::vector<Machine>& machines_;
    const Network& links_;
    Network network_;  // of them and the machines
    const ChoiceOptions& options_;
    std::array<Best, kKinds> best_{};
    std::optional<Shortage> shortage_{};
};

}  // namespace

std::vector<std::vector<std::uint32_t>> tensor_groups(
    const std::vector<Machine>& machines, const Network& network, const Link& site, std::uint32_t size
) {
    std::vector<std::uint32_t> order(machines.size());
    std::iota(order.begin(), order.end(), 0U);
    // Machines of like speed together.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return machines[a].multiply_adds_per_s > machines[b].multiply_adds_per_s;
    });
    Groups out;
    std::vector<bool> is_taken(machines.size());
    for (const std::uint32_t first : order) {
        std::vector<std::uint32_t> group;
        for (const std::uint32_t machine : order) {
            const bool is_near = std::all_of(group.begin(), group.end(), [&](std::uint32_t other) {
                return is_in_site(network.between(machine, other), site);
            });
            const bool is_next = !group.empty() || machine == first;
            if (!is_taken[machine] && is_next && is_near && group.size() < size) {
                group.push_back(machine);
            }
        }
        if (group.size() == size) {
            for (const std::uint32_t machine : group) {
                is_taken[machine] = true;
            }
            out.push_back(std::move(group));
        }
    }
    return out;
}

Choice choose(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
    const ChoiceOptions& options
) {
    ASSERT(!machines.empty() && machines.size() <= plan::kMaxRanks && machines.size() == network.size());
    return Chooser(profile, machines, network, options).run();
}

}  // namespace assay::schedule
