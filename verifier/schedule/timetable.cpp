// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/timetable.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>
#include <core/dispute/work.hpp>
#include <verifier/plan/node_rules.hpp>

namespace assay::schedule {
namespace {

using canonical::Graph;
using canonical::Node;
using plan::Item;
using plan::NodePlan;
using plan::Plan;
using plan::Transfer;

constexpr double kOrderBytes = 17.0;
constexpr std::size_t kSteps = 4;  // the first of which is not counted

// What a rank does next: computes, sends a message, or waits for one.
struct Event {
    enum class Kind : std::uint8_t { kCompute, kSend, kWait };
    Kind kind = Kind::kCompute;
    double seconds = 0.0;     // kCompute
    std::size_t message = 0;  // kSend, kWait
};
struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double bytes = 0.0;
};

// The bytes that each rank sends each other one in an exchange.
class Exchange {
  public:
    explicit Exchange(std::uint32_t ranks) : ranks_(ranks) {}
    void add(std::uint32_t from, std::uint32_t to, double bytes) {
        if (bytes_.empty()) {
            bytes_.resize(std::size_t{ranks_} * ranks_);
        }
        bytes_[from * ranks_ + to] += bytes;
    }
    void add(const std::vector<Transfer>& all, canonical::DType dtype) {
        for (const Transfer& transfer : all) {
            const auto elements = static_cast<double>(transfer.block.element_count());
            add(transfer.from, transfer.to, elements * canonical::size_of(dtype));
        }
    }
    double bytes(std::uint32_t from, std::uint32_t to) const {
        return bytes_.empty() ? 0.0 : bytes_[from * ranks_ + to];
    }

  private:
    std::uint32_t ranks_;
    std::vector<double> bytes_{};
};

// The events of one step, for each rank in their order.
class StepEvents {
  public:
    StepEvents(const program::Program& program, const Plan& plan, const std::vector<Machine>& machines)
        : program_(program),
          graph_(program.step),
          plan_(plan),
          machines_(machines),
          ranks_(plan.layout.ranks()),
          events_(ranks_) {
        Exchange order(ranks_);
        for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
            order.add(0, rank, kOrderBytes);
        }
        const std::vector<Indices> sent{send(order)};
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            exchange(rank, sent);
        }
        for (std::uint32_t node = 0; node + 1 < graph_.size(); ++node) {
            for (const Item& item : plan::items_of(plan_, graph_, node)) {
                parts_.push_back(part_of(item));
            }
        }
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            run(rank);
        }
        end();
    }

    const std::vector<std::vector<Event>>& events() const { return events_; }
    const std::vector<Message>& messages() const { return messages_; }

  private:
    // The message from each rank to each other one, if there is one.
    using Indices = std::vector<std::optional<std::size_t>>;
    struct Part {
        Item item;
        std::vector<double> multiply_adds;  // of each rank
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, plan::Sent>;

    Indices send(const Exchange& exchange) {
        Indices out;
        for (std::uint32_t from = 0; from < ranks_; ++from) {
            for (std::uint32_t to = 0; to < ranks_; ++to) {
                const double bytes = from == to ? 0.0 : exchange.bytes(from, to);
                out.push_back(bytes > 0.0 ? std::optional(messages_.size()) : std::nullopt);
                if (bytes > 0.0) {
                    messages_.push_back({from, to, bytes});
                }
            }
        }
        return out;
    }

    // All of a rank's messages leave before it waits for others'.
    void exchange(std::uint32_t rank, const std::vector<Indices>& messages) {
        for (const Indices& each : messages) {
            for (std::uint32_t other = 0; other < ranks_; ++other) {
                if (const auto& sent = each[rank * ranks_ + other]) {
                    events_[rank].push_back({.kind = Event::Kind::kSend, .message = *sent});
                }
            }
        }
        for (const Indices& each : messages) {
            for (std::uint32_t other = 0; other < ranks_; ++other) {
                if (const auto& received = each[other * ranks_ + rank]) {
                    events_[rank].push_back({.kind = Event::Kind::kWait, .message = *received});
                }
            }
        }
    }

    void add_inputs(const Item& item, Exchange& out) const {
        const auto all = plan::input_transfers(plan_, graph_, item);
        for (std::size_t k = 0; k < all.size(); ++k) {
            out.add(all[k], graph_[item.node].inputs[k].dtype);
        }
    }

    void add_sums(const Item& item, Exchange& out) const {
        const NodePlan& node = plan_.nodes[item.node];
        const double width = plan::accumulator_bytes(graph_, item.node);
        for (std::uint32_t from = 0; from < ranks_; ++from) {
            const auto chunks = static_cast<double>(plan::chunks_of_part(graph_[item.node], node.depth[from]).size());
            for (std::uint32_t to = 0; to < ranks_; ++to) {
                if (from != to && node.work[from] == node.work[to] && !node.work[from].is_empty()) {
                    out.add(from, to, chunks * static_cast<double>(node.finished[to].element_count()) * width);
                }
            }
        }
    }

    void add(const plan::Sending& sending, Exchange& out) const {
        switch (sending.what) {
            case plan::Sent::kInputs:
                add_inputs(sending.item, out);
                break;
            case plan::Sent::kParts:
                add_sums(sending.item, out);
                break;
            case plan::Sent::kOutput:
                out.add(plan::output_transfers(plan_, graph_, sending.item), graph_[sending.item.node].dtype);
                break;
        }
    }

    // The messages of an exchange. All its ranks have them under the same first item.
    const std::vector<Indices>& messages_of(const plan::Exchange& exchange) {
        const plan::Sending& first = exchange.messages.front().front();
        const auto [found, is_new] = exchanges_.try_emplace(Key(first.item.node, first.item.piece, first.what));
        for (std::size_t i = 0; i < exchange.messages.size() && is_new; ++i) {
            Exchange bytes(ranks_);
            for (const plan::Sending& sending : exchange.messages[i]) {
                add(sending, bytes);
            }
            found->second.push_back(send(bytes));
        }
        return found->second;
    }

    Part part_of(const Item& item) const {
        const Node& node = graph_[item.node];
        Part out{item, std::vector<double>(ranks_)};
        const plan::Share share = plan::share_of(plan_, graph_, item);
        const auto work = static_cast<double>(dispute::work_of(node));
        const auto all = static_cast<double>(node.shape.element_count());
        for (std::uint32_t rank = 0; rank < ranks_ && !share.work.empty() && all > 0.0; ++rank) {
            out.multiply_adds[rank] = work * static_cast<double>(share.work[rank].element_count()) / all;
            if (plan_.nodes[item.node].is_divided) {
                out.multiply_adds[rank] *=
                    static_cast<double>(plan_.nodes[item.node].depth[rank].count()) / plan::depth_of(node);
            }
        }
        return out;
    }

    const Part* find(const Item& item) const {
        const auto at = std::lower_bound(parts_.begin(), parts_.end(), item, [](const Part& part, const Item& wanted) {
            return std::pair(part.item.node, part.item.piece) < std::pair(wanted.node, wanted.piece);
        });
        ASSERT(at != parts_.end() && at->item == item);
        return &*at;
    }

    void run(std::uint32_t rank) {
        const std::vector<Item>& order = plan_.order[rank];
        auto next = plan_.exchanges[rank].begin();
        for (std::size_t i = 0; i <= order.size(); ++i) {
            for (; next != plan_.exchanges[rank].end() && next->after == i; ++next) {
                exchange(rank, messages_of(*next));
            }
            if (i < order.size()) {
                compute(rank, *find(order[i]));
            }
        }
    }

    void compute(std::uint32_t rank, const Part& part) {
        if (part.multiply_adds[rank] > 0.0) {
            events_[rank].push_back(
                {.kind = Event::Kind::kCompute,
                 .seconds = part.multiply_adds[rank] / machines_[rank].multiply_adds_per_s}
            );
        }
    }

    // Rank 0 is told the loss, all tell each other whether what follows is finite, and the next state is brought where
    // it belongs.
    void end() {
        const std::uint32_t loss = program_.loss_node;
        plan::Placement wanted(ranks_);
        wanted[0] = plan::whole(graph_[loss].shape);
        Exchange told(ranks_);
        told.add(plan::transfers(plan_.nodes[loss].held, wanted, graph_[loss].shape), graph_[loss].dtype);
        Exchange finite(ranks_);
        for (std::uint32_t from = 0; from < ranks_; ++from) {
            for (std::uint32_t to = 0; to < ranks_; ++to) {
                finite.add(from, to, 1.0);
            }
        }
        Exchange next(ranks_);
        add_inputs({static_cast<std::uint32_t>(graph_.size() - 1), Item::kWhole}, next);
        for (const Exchange& each : {told, finite, next}) {
            const std::vector<Indices> sent{send(each)};
            for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
                exchange(rank, sent);
            }
        }
    }

    const program::Program& program_;
    const Graph& graph_;
    const Plan& plan_;
    const std::vector<Machine>& machines_;
    std::uint32_t ranks_;
    std::vector<std::vector<Event>> events_;
    std::vector<Message> messages_;
    std::vector<Part> parts_;  // in the order of their items
    std::map<Key, std::vector<Indices>> exchanges_;
};

// Ranks that follow their events, always the one that is the earliest.
class Clocks {
  public:
    Clocks(const StepEvents& step, const Network& network)
        : step_(step),
          network_(network),
          ranks_(network.size()),
          arrivals_(step.messages().size() * kSteps, -1.0),
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
    };

    std::size_t index_of(const Rank& rank, const Event& event) const {
        return rank.step * step_.messages().size() + event.message;
    }

    std::optional<std::uint32_t> earliest() const {
        std::optional<std::uint32_t> out;
        for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
            const Rank& rank = ranks_[i];
            if (rank.step == kSteps) {
                continue;
            }
            const Event& event = step_.events()[i][rank.event];
            const bool can_go_on = event.kind != Event::Kind::kWait || arrivals_[index_of(rank, event)] >= 0.0;
            if (can_go_on && (!out || rank.now < ranks_[*out].now)) {
                out = i;
            }
        }
        return out;
    }

    void advance(std::uint32_t index) {
        Rank& rank = ranks_[index];
        const std::vector<Event>& events = step_.events()[index];
        const Event& event = events[rank.event];
        rank.is_sending = rank.is_sending && event.kind == Event::Kind::kSend;
        switch (event.kind) {
            case Event::Kind::kCompute:
                rank.now += event.seconds;
                break;
            case Event::Kind::kSend:
                arrivals_[index_of(rank, event)] = send(rank, step_.messages()[event.message]);
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
        return std::max({from.out_free, to.in_free, allowed}) + link.delay_s;
    }

    const StepEvents& step_;
    const Network& network_;
    std::vector<Rank> ranks_;
    std::vector<double> arrivals_;  // of the messages of each step; less than 0 if not sent yet
    std::vector<Connection> connections_;
    std::array<double, kSteps> ends_{};
};

Network network_of(const std::vector<std::uint32_t>& machines, const Network& all) {
    Network out(static_cast<std::uint32_t>(machines.size()), {});
    for (std::uint32_t a = 0; a < machines.size(); ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            out.set(a, b, all.between(machines[a], machines[b]));
        }
    }
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
    return Clocks(StepEvents(program, plan, machines), network).run();
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
