// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/timetable.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/schedule/step_events.hpp>

namespace assay::schedule {
namespace {

using plan::Plan;

constexpr std::size_t kSteps = 4;  // the first of which is not counted

// The cores of machines on which several ranks are.
class Cores {
  public:
    explicit Cores(const std::vector<Machine>& machines) {
        std::map<std::string, std::size_t> hosts;
        for (const Machine& machine : machines) {
            const bool is_shared = !machine.host.empty() && machine.cores > 0.0;
            host_of_.push_back(
                is_shared ? std::optional(hosts.emplace(machine.host, hosts.size()).first->second) : std::nullopt
            );
            cores_.push_back(machine.cores);
        }
        free_.resize(hosts.size());
    }
    // What a rank's threads do from `now` on and takes `seconds` of a core, after what other ranks have for the same
    // cores to do. Returns when the cores are done.
    double share(std::uint32_t rank, double now, double seconds) {
        if (!host_of_[rank] || seconds <= 0.0) {
            return now;
        }
        double& free = free_[*host_of_[rank]];
        free = std::max(free, now) + seconds / cores_[rank];
        return free;
    }

  private:
    std::vector<std::optional<std::size_t>> host_of_;  // of each rank
    std::vector<double> cores_;                        // likewise
    std::vector<double> free_;                         // of each host
};

// Ranks that follow their events, always the one that is the earliest.
class Clocks {
  public:
    Clocks(const StepEvents& step, const std::vector<Machine>& machines, const Network& network)
        : step_(step),
          machines_(machines),
          network_(network),
          cores_(machines),
          ranks_(network.size()),
          arrivals_(step.messages.size() * kSteps, -1.0),
          connections_(std::size_t{network.size()} * network.size()) {}

    double run() {
        while (const auto next = earliest()) {
            advance(*next);
        }
        return (ends_[kSteps - 1] - ends_[0]) / (kSteps - 1);
    }

  private:
    struct Rank {
        double now = 0.0;
        std::size_t step = 0;
        std::size_t event = 0;
        bool is_sending = false;  // messages that leave together
        double begun = 0.0;       // when its link began with them
        double out_free = 0.0;    // when its link has sent what it had to
        double in_free = 0.0;     // when what it receives has left, as far as its own link allows
        double links_free = 0.0;  // when its thread for the links has done its part for what it sends and receives
    };

    std::size_t index_of(const Rank& rank, const Event& event) const {
        return rank.step * step_.messages.size() + event.message;
    }

    std::optional<std::uint32_t> earliest() const {
        std::optional<std::uint32_t> out;
        for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
            const Rank& rank = ranks_[i];
            if (rank.step == kSteps) {
                continue;
            }
            const Event& event = step_.of_rank[i][rank.event];
            const bool can_go_on = event.kind != Event::Kind::kWait || arrivals_[index_of(rank, event)] >= 0.0;
            if (can_go_on && (!out || rank.now < ranks_[*out].now)) {
                out = i;
            }
        }
        return out;
    }

    void advance(std::uint32_t index) {
        Rank& rank = ranks_[index];
        const std::vector<Event>& events = step_.of_rank[index];
        const Event& event = events[rank.event];
        rank.is_sending = rank.is_sending && event.kind == Event::Kind::kSend;
        switch (event.kind) {
            case Event::Kind::kCompute:
                rank.now += event.seconds;
                break;
            case Event::Kind::kSum:
                rank.now = std::max(rank.now + event.seconds, cores_.share(index, rank.now, event.seconds));
                break;
            case Event::Kind::kSend:
                arrivals_[index_of(rank, event)] = send(rank, step_.messages[event.message]);
                break;
            case Event::Kind::kWait:
                rank.now = std::max(rank.now, arrivals_[index_of(rank, event)]);
                break;
        }
        if (++rank.event == events.size()) {
            if (index == 0) {
                ends_[rank.step] = rank.now;
            }
            rank.event = 0;
            ++rank.step;
        }
    }

    // Messages that leave together share the sender's link, and that of a receiver with what others send it meanwhile.
    // Bytes are encrypted and decrypted while those before them cross, so of links, processors and
    // what links share the slowest counts.
    double send(Rank& from, const Message& message) {
        const Link& link = network_.between(message.from, message.to);
        Rank& to = ranks_[message.to];
        const double crossing = message.bytes / link.bytes_per_s;
        if (!from.is_sending) {
            from.begun = std::max(from.now, from.out_free);
            from.is_sending = true;
        }
        from.out_free = std::max(from.now, from.out_free) + crossing;
        to.in_free = std::max(from.begun, to.in_free) + crossing;
        const double allowed =
            from.now + connections_[message.from * network_.size() + message.to].send(message.bytes, link, from.now);
        const double sent = pass(message.from, message.bytes, from.now);
        const double received = pass(message.to, message.bytes, from.now);
        switch_free_ = std::max(from.now, switch_free_) + message.bytes / network_.shared_bytes_per_s();
        return std::max({from.out_free, to.in_free, allowed, sent, received, switch_free_}) + link.delay_s;
    }

    // A message at one of its ends from `now` on. Returns when the processor is done with it.
    double pass(std::uint32_t index, double bytes, double now) {
        const Overhead& overhead = machines_[index].overhead;
        const double seconds = overhead.message_s + bytes * overhead.byte_s;
        double& free = ranks_[index].links_free;
        free = std::max(free, now) + seconds;
        return std::max(free, cores_.share(index, now, seconds));
    }

    const StepEvents& step_;
    const std::vector<Machine>& machines_;
    const Network& network_;
    Cores cores_;
    std::vector<Rank> ranks_;
    std::vector<double> arrivals_;  // of the messages of each step; less than 0 if not sent yet
    std::vector<Connection> connections_;
    double switch_free_ = 0.0;  // when what all links share has passed on what it had to
    std::array<double, kSteps> ends_{};
};

Network network_of(const std::vector<std::uint32_t>& machines, const Network& all) {
    Network out(static_cast<std::uint32_t>(machines.size()), {});
    for (std::uint32_t a = 0; a < machines.size(); ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            out.set(a, b, all.between(machines[a], machines[b]));
        }
    }
    out.set_shared(all.shared_bytes_per_s());
    return out;
}

std::vector<Machine> machines_of(const Prediction& prediction, const std::vector<Machine>& all) {
    std::vector<Machine> out;
    for (const std::uint32_t machine : prediction.machines) {
        out.push_back(all[machine]);
    }
    return out;
}

// The same plan with stages and columns alike, by the same machines.
Prediction with_alike_parts(
    const Prediction& plan, const StepProfile& profile, const std::vector<Machine>& own, const Network& network,
    const ChoiceOptions& options
) {
    plan::Layout layout = plan.layout;
    layout.stage_shares.assign(layout.stages > 1 ? layout.stages : 0, 1);
    layout.tensor_shares.assign(layout.tensor > 1 ? layout.tensor : 0, 1);
    Prediction out = predict_given(profile, own, network, options, layout);
    for (std::uint32_t& machine : out.bottleneck) {
        machine = plan.machines[machine];
    }
    out.machines = plan.machines;
    return out;
}

}  // namespace

double step_seconds(
    const program::Program& program, const Plan& plan, const std::vector<Machine>& machines, const Network& network
) {
    ASSERT(machines.size() == plan.layout.ranks() && network.size() == plan.layout.ranks());
    const StepEvents step = events_of(program, plan, machines);
    return Clocks(step, machines, network).run();
}

void time_plans(
    Choice& choice, const program::Program& program, const StepProfile& profile, const std::vector<Machine>& machines,
    const Network& network, const ChoiceOptions& options
) {
    choice.fastest.reset();
    for (std::size_t i = 0; i < choice.best.size(); ++i) {
        Prediction& prediction = choice.best[i];
        const std::uint32_t ranks = prediction.layout.ranks();
        if (prediction.can_start() && ranks > 1 && ranks <= kTimedRanks) {
            const std::vector<Machine> own = machines_of(prediction, machines);
            const Network links = network_of(prediction.machines, network);
            const auto time = [&](Prediction& of) {
                of.timed_s = step_seconds(program, plan::make_plan(program, of.layout), own, links);
            };
            time(prediction);
            const bool has_shares = !prediction.layout.stage_shares.empty() || !prediction.layout.tensor_shares.empty();
            if (has_shares && !prediction.has_given_shares) {
                Prediction alike = with_alike_parts(prediction, profile, own, links, options);
                time(alike);
                if (alike.total_s() < prediction.total_s()) {
                    prediction = std::move(alike);
                }
            }
        }
        const bool is_faster = prediction.can_start() &&
                               (!choice.fastest || prediction.total_s() < choice.best[*choice.fastest].total_s());
        choice.fastest = is_faster ? std::optional(i) : choice.fastest;
    }
}

}  // namespace assay::schedule
