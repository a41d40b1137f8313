// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/schedule/choose.hpp>

// How long one plan takes.
namespace assay::schedule {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

// The share of a step's work that a machine does which has `part` of what is divided.
double share_of(const Division& division, double part) { return division.serial + (1.0 - division.serial) * part; }

// How often ranks that take turns wait at the end of a round: until the others have begun after rank 0, and have told
// it what became of their turns, until it says that the round ends, and for what is sent.
constexpr double kTurnRounds = 4.0;

struct Slowest {
    double seconds = 0.0;
    std::vector<std::uint32_t> machines{};
    void look_at(double other, std::vector<std::uint32_t> who) {
        if (machines.empty() || other > seconds) {
            seconds = other;
            machines = std::move(who);
        }
    }
};

// Of machine and link, what takes longest.
void set_wait(Prediction& out, const std::vector<Slowest>& slowest) {
    const std::vector<double> seconds{out.compute_s, out.exchange_s, out.handover_s, out.tensor_s};
    const auto longest = static_cast<std::size_t>(std::max_element(seconds.begin(), seconds.end()) - seconds.begin());
    out.wait = static_cast<Wait>(longest);
    out.bottleneck = slowest[longest].machines;
}

// The rows of each replica: in proportion to the slowest machine of each, or alike if one would lack the memory.
std::vector<std::uint32_t> rows_of(
    const StepProfile& profile, const std::vector<Machine>& machines, const Prediction& plan
) {
    const plan::Layout& layout = plan.layout;
    if (!layout.shares.empty()) {
        return divide_rows(profile.batch_rows, {layout.shares.begin(), layout.shares.end()});
    }
    std::vector<double> speeds(layout.data);
    std::vector<double> memory(layout.data);
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        const Machine& machine = machines[plan.machines[rank]];
        const std::uint32_t replica = layout.data_index(rank);
        const bool is_first = speeds[replica] == 0.0;
        speeds[replica] =
            is_first ? machine.multiply_adds_per_s : std::min(speeds[replica], machine.multiply_adds_per_s);
        memory[replica] = is_first ? machine.memory_bytes : std::min(memory[replica], machine.memory_bytes);
    }
    std::vector<std::uint32_t> rows = divide_rows(profile.batch_rows, speeds);
    for (std::uint32_t replica = 0; replica < layout.data; ++replica) {
        if (memory_of(profile, layout, rows[replica]) > memory[replica]) {
            return divide_rows(profile.batch_rows, std::vector<double>(layout.data, 1.0));
        }
    }
    return rows;
}

// Shares that make the slowest part less than a tenth faster are not worth their name.
constexpr double kWorthIt = 0.9;
constexpr std::uint32_t kShareSum = 100;

// The shares of parts by the speed of the slowest machine of each; empty if alike ones are as good.
std::vector<std::uint32_t> shares_by_speed(const std::vector<double>& speeds) {
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    const double least = *std::min_element(speeds.begin(), speeds.end());
    if (static_cast<double>(speeds.size()) * least >= kWorthIt * sum) {
        return {};
    }
    std::vector<std::uint32_t> out = divide_rows(kShareSum, speeds);
    std::uint32_t divisor = 0;
    for (std::uint32_t& share : out) {
        share = std::max(share, 1U);
        divisor = std::gcd(divisor, share);
    }
    for (std::uint32_t& share : out) {
        share /= divisor;
    }
    return out;
}

template <class Index>
std::vector<double> slowest_of_parts(
    const std::vector<Machine>& machines, const Prediction& plan, std::uint32_t parts, Index index_of
) {
    std::vector<double> out(parts);
    for (std::uint32_t rank = 0; rank < plan.layout.ranks(); ++rank) {
        const double speed = machines[plan.machines[rank]].multiply_adds_per_s;
        double& of_part = out[index_of(rank)];
        of_part = of_part == 0.0 ? speed : std::min(of_part, speed);
    }
    return out;
}

double fraction(const std::vector<std::uint32_t>& shares, std::uint32_t parts, std::uint32_t index) {
    return shares.empty() ? 1.0 / parts : shares[index] / std::accumulate(shares.begin(), shares.end(), 0.0);
}

// Of the parts of a stage and of a layer that the rank has.
double memory_of_rank(
    const StepProfile& profile, const plan::Layout& layout, const std::vector<std::uint32_t>& rows, std::uint32_t rank
) {
    const double stage = fraction(layout.stage_shares, layout.stages, layout.stage_index(rank)) * layout.stages;
    const double tensor = fraction(layout.tensor_shares, layout.tensor, layout.tensor_index(rank)) * layout.tensor;
    return memory_of(profile, layout, rows[layout.data_index(rank)]) * stage * tensor;
}

// Gives stages and parts of layers shares by speed, if the layout has none and machines have the memory for them.
// Shares that are given and alike are left out.
void set_shares(
    const StepProfile& profile, const std::vector<Machine>& machines, const std::vector<std::uint32_t>& rows,
    Prediction& plan
) {
    const plan::Layout given = plan.layout;
    plan::Layout& layout = plan.layout;
    if (given.stage_shares.empty() && given.stages > 1) {
        layout.stage_shares = shares_by_speed(slowest_of_parts(machines, plan, given.stages, [&](std::uint32_t rank) {
            return given.stage_index(rank);
        }));
    }
    if (given.tensor_shares.empty() && given.tensor > 1) {
        layout.tensor_shares = shares_by_speed(slowest_of_parts(machines, plan, given.tensor, [&](std::uint32_t rank) {
            return given.tensor_index(rank);
        }));
    }
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        if (memory_of_rank(profile, layout, rows, rank) > machines[plan.machines[rank]].memory_bytes) {
            layout = given;
            break;
        }
    }
    for (std::vector<std::uint32_t>* shares : {&layout.stage_shares, &layout.tensor_shares}) {
        if (std::adjacent_find(shares->begin(), shares->end(), std::not_equal_to<>()) == shares->end()) {
            shares->clear();
        }
    }
}

// Of the replica's machines in the same stage and in the next one.
void look_at_links(
    const StepProfile& profile, const Network& network, const Prediction& plan, Slowest& exchange, Slowest& handover
) {
    const plan::Layout& layout = plan.layout;
    const Crossing crossing = crossing_of(profile, layout);
    const std::uint32_t stage_size = layout.data * layout.tensor;
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        const std::uint32_t machine = plan.machines[rank];
        if (rank + stage_size < layout.ranks()) {
            const std::uint32_t next = plan.machines[rank + stage_size];
            handover.look_at(handover_seconds(crossing, network.between(machine, next)), {machine, next});
        }
        const std::uint32_t end = (layout.stage_index(rank) + 1) * stage_size;
        for (std::uint32_t other = rank + layout.tensor; other < end; other += layout.tensor) {
            const Link& link = network.between(machine, plan.machines[other]);
            exchange.look_at(exchange_seconds(crossing, link, layout.data), {machine, plan.machines[other]});
        }
    }
}

// Inside the slowest tensor-parallel group; the stages' groups work one after the other.
double tensor_seconds(
    const StepProfile& profile, const Network& network, const Prediction& plan, const Groups& groups,
    const Arrangement& arrangement, Slowest& slowest
) {
    const plan::Layout& layout = plan.layout;
    if (layout.tensor == 1) {
        return 0.0;
    }
    const double parts = layout.data * layout.stages;
    const Crossing crossing{
        .exchange_rounds = profile.tensor.rounds / layout.stages,
        .exchange_bytes = profile.tensor.bytes / parts,
        .delays = Delays::kLargest};
    double out = 0.0;
    for (const std::uint32_t index : arrangement.machines) {
        const std::vector<std::uint32_t>& group = groups[index];
        out = std::max(out, cost_of(network, crossing, {{1, layout.tensor}, group}).exchange_s);
        for (std::size_t a = 0; a < group.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const Link& link = network.between(group[b], group[a]);
                slowest.look_at(exchange_seconds(crossing, link, layout.tensor), {group[b], group[a]});
            }
        }
    }
    return out;
}

Kind kind_of(const plan::Layout& layout) {
    if (layout.ranks() == 1) {
        return Kind::kOne;
    }
    if (layout.tensor > 1) {
        return Kind::kTensor;
    }
    if (layout.stages > 1) {
        return layout.data > 1 ? Kind::kDataPipeline : Kind::kPipeline;
    }
    return static_cast<Kind>(static_cast<std::uint8_t>(Kind::kData) + static_cast<std::uint8_t>(layout.zero));
}

// Into how many parts a cell can cut the rows of a replica.
std::uint32_t micro_batches_of(plan::Layout layout, std::uint32_t rows, const ChoiceOptions& options) {
    layout.micro_batches = std::min({options.micro_batches, rows, plan::kMaxMicroBatches});
    return layout.is_valid() && layout.micro_batches > 1 ? layout.micro_batches : 1;
}

}  // namespace

Crossing crossing_of(const StepProfile& profile, const plan::Layout& layout) {
    const Division& data = profile.data_by(layout.zero);
    Crossing out{.exchange_rounds = 0.0, .handover_rounds = 0.0, .delays = Delays::kLargest};
    if (layout.data > 1) {
        out.exchange_rounds = data.rounds / layout.stages;
        out.exchange_bytes = data.bytes / (layout.stages * layout.tensor);
    }
    if (layout.stages > 1) {
        out.handover_rounds = profile.stages.rounds;
        out.handover_bytes = profile.stages.bytes / layout.data;
    }
    return out;
}

Crossing crossing_of_turns(const StepProfile& profile, const ChoiceOptions& options, std::uint32_t count) {
    const double sent_bytes = profile.gradient_bytes * options.sent_bits / 32.0 / options.fragments;
    return {
        .exchange_rounds = kTurnRounds / options.turn_steps,
        .exchange_bytes = count * sent_bytes / options.turn_steps,
        .handover_rounds = 0.0,
        .delays = Delays::kLargest};
}

double bubble(std::uint32_t stages, std::uint32_t micro_batches) {
    return (stages - 1.0) / (static_cast<double>(micro_batches) + stages - 1.0);
}

std::vector<std::uint32_t> divide_rows(std::uint32_t rows, const std::vector<double>& speeds) {
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    std::vector<std::uint32_t> out;
    std::vector<double> rests;
    std::uint32_t left = rows;
    for (const double speed : speeds) {
        const double share = rows * speed / sum;
        out.push_back(std::min(left, static_cast<std::uint32_t>(share)));
        rests.push_back(share - out.back());
        left -= out.back();
    }
    for (; left > 0; --left) {
        const auto largest = static_cast<std::size_t>(std::max_element(rests.begin(), rests.end()) - rests.begin());
        ++out[largest];
        rests[largest] -= 1.0;
    }
    return out;
}

Prediction predict(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
    const ChoiceOptions& options, plan::Layout layout, const Groups& groups, const Arrangement& arrangement
) {
    ASSERT(arrangement.machines.size() == std::size_t{layout.stages} * layout.data);
    Prediction out;
    for (const std::uint32_t index : arrangement.machines) {
        ASSERT(groups[index].size() == layout.tensor);
        out.machines.insert(out.machines.end(), groups[index].begin(), groups[index].end());
    }
    out.kind = kind_of(layout);
    out.layout = std::move(layout);
    out.has_given_shares = !out.layout.stage_shares.empty() || !out.layout.tensor_shares.empty();
    const std::vector<std::uint32_t> rows = rows_of(profile, machines, out);
    if (rows != divide_rows(profile.batch_rows, std::vector<double>(out.layout.data, 1.0))) {
        out.layout.shares = rows;
    }
    set_shares(profile, machines, rows, out);
    std::vector<Slowest> slowest(4);
    for (std::uint32_t rank = 0; rank < out.layout.ranks(); ++rank) {
        const double tensor_part = share_of(
            profile.tensor, fraction(out.layout.tensor_shares, out.layout.tensor, out.layout.tensor_index(rank))
        );
        const double stage_part = share_of(
            profile.stages, fraction(out.layout.stage_shares, out.layout.stages, out.layout.stage_index(rank))
        );
        const double part = static_cast<double>(rows[out.layout.data_index(rank)]) / profile.batch_rows;
        const double work = profile.work * share_of(profile.data_by(out.layout.zero), part) * tensor_part * stage_part;
        slowest[0].look_at(work / machines[out.machines[rank]].multiply_adds_per_s, {out.machines[rank]});
        out.memory_bytes = std::max(out.memory_bytes, memory_of_rank(profile, out.layout, rows, rank));
    }
    out.layout.micro_batches = micro_batches_of(out.layout, *std::min_element(rows.begin(), rows.end()), options);
    // A stage works 1 - bubble of the time.
    const double waiting = 1.0 / (1.0 - bubble(out.layout.stages, out.layout.micro_batches));
    out.compute_s = slowest[0].seconds * waiting;
    look_at_links(profile, network, out, slowest[1], slowest[2]);
    out.tensor_s = tensor_seconds(profile, network, out, groups, arrangement, slowest[3]) * waiting;
    const Crossing crossing = crossing_of(profile, out.layout);
    const std::uint32_t stage_size = out.layout.data * out.layout.tensor;
    for (std::uint32_t t = 0; t < out.layout.tensor; ++t) {
        Arrangement plane{arrangement.grid, {}};  // the t-th machine of each group
        for (std::uint32_t rank = t; rank < out.layout.stages * stage_size; rank += out.layout.tensor) {
            plane.machines.push_back(out.machines[rank]);
        }
        const CommunicationCost cost = cost_of(network, crossing, plane);
        out.exchange_s = std::max(out.exchange_s, cost.exchange_s);
        out.handover_s = std::max(out.handover_s, cost.handover_s);
    }
    set_wait(out, slowest);
    return out;
}

Prediction predict_given(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& links, ChoiceOptions options,
    const plan::Layout& layout
) {
    ASSERT(layout.ranks() == machines.size() && machines.size() == links.size());
    const Network network = as_processed(links, machines);
    std::vector<std::uint32_t> all(machines.size());
    std::iota(all.begin(), all.end(), 0U);
    if (layout.turns > 1) {
        return predict_turns(profile, machines, network, options, std::move(all));
    }
    options.micro_batches = layout.micro_batches;
    const std::uint32_t count = layout.stages * layout.data;
    Groups groups(count);
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        groups[rank / layout.tensor].push_back(rank);
    }
    all.resize(count);
    return predict(
        profile, machines, network, options, layout, groups,
        {{.stages = layout.stages, .width = layout.data}, std::move(all)}
    );
}

Prediction predict_turns(
    const StepProfile& profile, const std::vector<Machine>& machines, const Network& network,
    const ChoiceOptions& options, std::vector<std::uint32_t> replicas
) {
    Prediction out;
    out.kind = Kind::kTurns;
    out.machines = std::move(replicas);
    const auto count = static_cast<std::uint32_t>(out.machines.size());
    std::vector<double> speeds;
    for (const std::uint32_t machine : out.machines) {
        speeds.push_back(machines[machine].multiply_adds_per_s);
    }
    const std::vector<std::uint32_t> rows = divide_rows(profile.batch_rows, speeds);
    const Crossing crossing = crossing_of_turns(profile, options, count);
    std::vector<Slowest> slowest(4);
    for (std::uint32_t i = 0; i < count; ++i) {
        const double part = static_cast<double>(rows[i]) / profile.batch_rows;
        // A local replica does the optimizer's work by itself, as a replica without ZeRO does.
        const double work = profile.turn_replicas > 0
                                ? profile.turn_work * static_cast<double>((profile.turn_replicas + count - 1) / count)
                                : profile.work * share_of(profile.data[0], part);
        slowest[0].look_at(work / speeds[i], {out.machines[i]});
        // And keeps the parameters from which it began.
        out.memory_bytes = std::max(out.memory_bytes, memory_of(profile, {}, rows[i]) + profile.parameter_bytes);
        for (std::uint32_t k = 0; k < i; ++k) {
            const Link& link = network.between(out.machines[k], out.machines[i]);
            slowest[1].look_at(exchange_seconds(crossing, link, count), {out.machines[k], out.machines[i]});
        }
    }
    out.layout.data = count;
    out.compute_s = slowest[0].seconds;
    out.exchange_s = cost_of(network, crossing, {{1, count}, out.machines}).exchange_s;
    // The connections have been idle for a turn, and send little at first.
    const double bytes = crossing.exchange_bytes / count * options.turn_steps;
    const double together = bytes * (count - 1.0);
    double begun_s = 0.0;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t k = 0; k < i; ++k) {
            const Link& link = network.between(out.machines[k], out.machines[i]);
            begun_s = std::max(begun_s, Connection().send(bytes, link, 0.0) - together / link.bytes_per_s);
        }
    }
    out.exchange_s += begun_s / options.turn_steps;
    set_wait(out, slowest);
    return out;
}

}  // namespace assay::schedule
