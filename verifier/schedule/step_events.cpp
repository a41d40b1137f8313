// SPDX-License-Identifier: Apache-2.0
#include <verifier/schedule/step_events.hpp>

#include <algorithm>
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

// The bytes that each rank sends each other one in an exchange.
class Exchange {
  public:
    struct Sent {
        double bytes = 0.0;
        double sum_bytes = 0.0;  // of them
    };
    explicit Exchange(std::uint32_t ranks) : ranks_(ranks) {}
    void add(std::uint32_t from, std::uint32_t to, double bytes) { at(from, to).bytes += bytes; }
    void add_sums(std::uint32_t from, std::uint32_t to, double bytes) {
        add(from, to, bytes);
        at(from, to).sum_bytes += bytes;
    }
    void add(const std::vector<Transfer>& all, canonical::DType dtype) {
        for (const Transfer& transfer : all) {
            const auto elements = static_cast<double>(transfer.block.element_count());
            add(transfer.from, transfer.to, elements * canonical::size_of(dtype));
        }
    }
    Sent sent(std::uint32_t from, std::uint32_t to) const {
        return sent_.empty() || from == to ? Sent{} : sent_[from * ranks_ + to];
    }

  private:
    Sent& at(std::uint32_t from, std::uint32_t to) {
        if (sent_.empty()) {
            sent_.resize(std::size_t{ranks_} * ranks_);
        }
        return sent_[from * ranks_ + to];
    }

    std::uint32_t ranks_;
    std::vector<Sent> sent_{};
};

// The events of one step, for each rank in their order.
class Builder {
  public:
    Builder(const program::Program& program, const Plan& plan, const std::vector<Machine>& machines)
        : program_(program), graph_(program.step), plan_(plan), machines_(machines), ranks_(plan.layout.ranks()) {
        out_.of_rank.resize(ranks_);
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

    StepEvents take() { return std::move(out_); }

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
                const Exchange::Sent sent = exchange.sent(from, to);
                out.push_back(sent.bytes > 0.0 ? std::optional(out_.messages.size()) : std::nullopt);
                if (sent.bytes > 0.0) {
                    out_.messages.push_back({from, to, sent.bytes, sent.sum_bytes});
                }
            }
        }
        return out;
    }

    // All of a rank's messages are packed and leave before it waits for others'.
    void exchange(std::uint32_t rank, const std::vector<Indices>& messages) {
        double packed = 0.0;
        std::vector<Event> sends;
        for (const Indices& each : messages) {
            for (std::uint32_t other = 0; other < ranks_; ++other) {
                if (const auto& sent = each[rank * ranks_ + other]) {
                    packed += out_.messages[*sent].sum_bytes;
                    sends.push_back({.kind = Event::Kind::kSend, .message = *sent});
                }
            }
        }
        std::vector<Event>& events = out_.of_rank[rank];
        sum(rank, packed);
        events.insert(events.end(), sends.begin(), sends.end());
        for (const Indices& each : messages) {
            double added = 0.0;
            for (std::uint32_t other = 0; other < ranks_; ++other) {
                if (const auto& received = each[other * ranks_ + rank]) {
                    added += out_.messages[*received].sum_bytes;
                    events.push_back({.kind = Event::Kind::kWait, .message = *received});
                }
            }
            sum(rank, added);
        }
    }

    void sum(std::uint32_t rank, double bytes) {
        const double seconds = bytes * machines_[rank].overhead.sum_byte_s;
        if (seconds > 0.0) {
            out_.of_rank[rank].push_back({.kind = Event::Kind::kSum, .seconds = seconds});
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
                    out.add_sums(from, to, chunks * static_cast<double>(node.finished[to].element_count()) * width);
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
            out_.of_rank[rank].push_back(
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
    StepEvents out_;
    std::vector<Part> parts_;  // in the order of their items
    std::map<Key, std::vector<Indices>> exchanges_;
};

}  // namespace

StepEvents events_of(const program::Program& program, const Plan& plan, const std::vector<Machine>& machines) {
    return Builder(program, plan, machines).take();
}

}  // namespace assay::schedule
