// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/pipeline.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/plan/phases.hpp>

namespace assay::plan {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

// What a rank does for an item.
struct Part {
    Item item;
    std::uint32_t rank = 0;
    std::uint64_t cost = 0;     // in multiply-adds, about
    bool is_sending = false;    // and nothing else
    bool is_receiving = false;  // and computes nothing
    std::uint32_t missing = 0;  // parts that have to be done before
    std::uint64_t ready = 0;
    std::vector<std::uint32_t> next{};  // parts that wait for this one
    std::uint32_t meeting = kNone;
};

// Parts of one item whose ranks send each other something: all wait until each is there.
struct Meeting {
    std::vector<std::uint32_t> parts;
    std::uint32_t unready = 0;
    std::uint64_t ready = 0;
    std::set<std::uint32_t> present;  // ranks
    std::uint64_t arrival = 0;        // of the last
};

std::uint64_t cost_of(const Node& node, const Block& work, const IndexSet& depth) {
    const std::uint64_t terms =
        node.op == Op::kContract ? (depth.is_empty() ? node.inputs[0].shape.cols : depth.count()) : 4;
    return 1 + work.element_count() * terms;
}

// The parts of all ranks, with what each waits for.
class Parts {
  public:
    Parts(const Plan& plan, const program::Program& program)
        : plan_(plan), graph_(program.step), ranks_(plan.layout.ranks()), by_node_(graph_.size()) {
        for (std::uint32_t node = 0; node + 1 < graph_.size(); ++node) {
            for (const Item& item : items_of(plan, graph_, node)) {
                add(item);
            }
        }
    }

    std::vector<Part>& all() { return parts_; }
    std::vector<Meeting>& meetings() { return meetings_; }

  private:
    // A part of this rank that makes some of `block` of an input, or of a node.
    void wait_for(std::uint32_t part, std::uint32_t node, std::uint32_t rank, const Block& block) {
        for (const std::uint32_t before : by_node_[node]) {
            const Part& producer = parts_[before];
            const bool is_whole = producer.item.piece == Item::kWhole;
            if (producer.rank == rank && !producer.is_sending &&
                (is_whole || !intersection(plan_.nodes[node].pieces[producer.item.piece][rank], block).is_empty())) {
                wait(part, before);
            }
        }
    }
    void wait(std::uint32_t part, std::uint32_t before) {
        std::vector<std::uint32_t>& next = parts_[before].next;
        if (next.empty() || next.back() != part) {
            next.push_back(part);
            ++parts_[part].missing;
        }
    }

    void add(const Item& item) {
        const Share share = share_of(plan_, graph_, item);
        const auto sent = input_transfers(plan_, graph_, item);
        const auto handed_out = output_transfers(plan_, graph_, item);
        const NodePlan& node = plan_.nodes[item.node];
        std::map<std::uint32_t, std::uint32_t> part_of_rank;
        const auto part_of = [&](std::uint32_t rank, bool is_sending) {
            const auto [found, is_new] = part_of_rank.try_emplace(rank, static_cast<std::uint32_t>(parts_.size()));
            if (is_new) {
                const IndexSet depth = node.is_divided ? node.depth[rank] : IndexSet();
                const std::uint64_t cost = is_sending ? 0 : cost_of(graph_[item.node], share.work[rank], depth);
                parts_.push_back({.item = item, .rank = rank, .cost = cost, .is_sending = is_sending});
                by_node_[item.node].push_back(found->second);
            }
            return found->second;
        };
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            if (!share.work[rank].is_empty()) {
                wait_for_inputs(part_of(rank, false), share, rank);
            }
        }
        bool is_meeting = node.is_divided && part_of_rank.size() > 1;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> sendings;  // from whose part, to whose
        for (std::size_t k = 0; k < sent.size(); ++k) {
            const Input& input = graph_[item.node].inputs[k];
            for (const Transfer& transfer : sent[k]) {
                const std::uint32_t from = part_of(transfer.from, true);
                is_meeting = is_meeting || !parts_[from].is_sending;
                sendings.emplace_back(from, part_of_rank.at(transfer.to));
                if (input.source == Source::kNode) {
                    wait_for(from, input.index, transfer.from, transfer.block);
                }
            }
        }
        for (const Transfer& transfer : handed_out) {
            is_meeting = is_meeting || part_of_rank.contains(transfer.to);
        }
        if (is_meeting) {
            meet(part_of_rank);
        } else {
            for (const auto& [from, to] : sendings) {
                wait(to, from);
            }
        }
        for (const Transfer& transfer : handed_out) {
            if (!is_meeting || !part_of_rank.contains(transfer.to) ||
                parts_[part_of_rank.at(transfer.to)].is_receiving) {
                const std::uint32_t to = part_of(transfer.to, false);
                parts_[to].is_receiving = true;
                wait(to, part_of_rank.at(transfer.from));
            }
        }
    }

    void wait_for_inputs(std::uint32_t part, const Share& share, std::uint32_t rank) {
        const Node& node = graph_[parts_[part].item.node];
        for (std::size_t k = 0; k < node.inputs.size(); ++k) {
            if (node.inputs[k].source == Source::kNode) {
                wait_for(part, node.inputs[k].index, rank, share.needs[k][rank]);
            }
        }
    }

    void meet(const std::map<std::uint32_t, std::uint32_t>& part_of_rank) {
        Meeting meeting;
        for (const auto& [rank, part] : part_of_rank) {
            parts_[part].is_receiving = parts_[part].is_receiving || parts_[part].is_sending;
            parts_[part].is_sending = false;
            meeting.parts.push_back(part);
            meeting.unready += parts_[part].missing > 0 ? 1U : 0U;
            parts_[part].meeting = static_cast<std::uint32_t>(meetings_.size());
        }
        meetings_.push_back(std::move(meeting));
    }

    const Plan& plan_;
    const canonical::Graph& graph_;
    std::uint32_t ranks_;
    std::vector<Part> parts_;
    std::vector<Meeting> meetings_;
    std::vector<std::vector<std::uint32_t>> by_node_;  // parts
};

// Plays a step.
class Player {
  public:
    Player(const Plan& plan, const program::Program& program)
        : plan_(plan), parts_(plan, program), ranks_(plan.layout.ranks()), phases_(phases_of(plan, program)) {
        hold_forward();
        for (std::uint32_t part = 0; part < parts_.all().size(); ++part) {
            Part& p = parts_.all()[part];
            if (p.missing == 0 && p.meeting == kNone) {
                ranks_[p.rank].later.emplace(0, part);
            }
        }
        for (std::uint32_t meeting = 0; meeting < parts_.meetings().size(); ++meeting) {
            if (parts_.meetings()[meeting].unready == 0) {
                announce(meeting);
            }
        }
    }

    std::vector<std::vector<Item>> run() {
        for (std::size_t done = 0; done < parts_.all().size();) {
            std::uint32_t next = kNone;
            for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
                const Rank& r = ranks_[rank];
                const bool can_work = !r.is_waiting && (!r.later.empty() || !r.now.empty() || !r.open.empty());
                if (can_work && (next == kNone || r.clock < ranks_[next].clock)) {
                    next = rank;
                }
            }
            if (next == kNone) {
                ASSERT(!held_.empty());
                release_all();  // a sum over the batch in the forward pass needs all micro-batches
                continue;
            }
            done += take(next);
        }
        std::vector<std::vector<Item>> out;
        for (Rank& rank : ranks_) {
            out.push_back(std::move(rank.order));
        }
        return out;
    }

  private:
    using Key = std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t>;  // priority, piece, node, part
    struct Rank {
        std::uint64_t clock = 0;
        bool is_waiting = false;                                  // in a meeting
        std::set<std::pair<std::uint64_t, std::uint32_t>> later;  // parts by when they can be done
        std::set<Key> now;
        std::set<std::uint32_t> open;  // meetings that another rank is at
        std::vector<Item> order;
    };

    bool is_in(const Part& part, Phase phase) const {
        return !part.is_sending && !part.is_receiving && phases_[part.item.node] == phase;
    }

    int priority_of(const Part& part) const {
        if (part.is_sending || part.is_receiving) {
            return 0;
        }
        const bool is_backward_first = plan_.layout.pipeline == Pipeline::kOneForwardOneBackward;
        switch (phases_[part.item.node]) {
            case Phase::kEarly:
                return 1;
            case Phase::kForward:
                return is_backward_first ? 3 : 2;
            case Phase::kBackward:
                return is_backward_first ? 2 : 3;
            default:
                return 4;
        }
    }

    // A stage has at most as many micro-batches on their way as there are stages from it on: else it would keep the
    // activations of all.
    void hold_forward() {
        if (plan_.layout.pipeline != Pipeline::kOneForwardOneBackward) {
            return;
        }
        for (const Part& part : parts_.all()) {
            if (is_in(part, Phase::kBackward)) {
                ++backward_[{part.rank, part.item.piece}];
            }
        }
        for (std::uint32_t i = 0; i < parts_.all().size(); ++i) {
            Part& part = parts_.all()[i];
            const std::uint32_t window = plan_.layout.stages - plan_.layout.stage_index(part.rank);
            if (!is_in(part, Phase::kForward) || part.item.piece < window || part.meeting != kNone) {
                continue;
            }
            const auto key = std::pair(part.rank, part.item.piece - window);
            if (backward_.contains(key)) {
                held_[key].push_back(i);
                ++part.missing;
            }
        }
    }

    void release(const std::vector<std::uint32_t>& parts, std::uint64_t time) {
        for (const std::uint32_t part : parts) {
            let(part, time);
        }
    }
    void release_all() {
        const auto held = std::exchange(held_, {});
        for (const auto& [key, parts] : held) {
            release(parts, ranks_[key.first].clock);
        }
    }

    // One thing less that the part waits for.
    void let(std::uint32_t part, std::uint64_t time) {
        Part& p = parts_.all()[part];
        p.ready = std::max(p.ready, time);
        if (--p.missing > 0) {
            return;
        }
        if (p.meeting == kNone) {
            wake(p.rank, p.ready, part);
            return;
        }
        Meeting& meeting = parts_.meetings()[p.meeting];
        meeting.ready = std::max(meeting.ready, p.ready);
        if (--meeting.unready == 0) {
            announce(p.meeting);
        }
    }
    void announce(std::uint32_t meeting) {
        const Meeting& m = parts_.meetings()[meeting];
        for (const std::uint32_t part : m.parts) {
            wake(parts_.all()[part].rank, m.ready, part);
        }
    }
    void wake(std::uint32_t rank, std::uint64_t time, std::uint32_t part) { ranks_[rank].later.emplace(time, part); }

    // Lets a rank do one part, or wait for one. Returns how many parts are done by that.
    std::size_t take(std::uint32_t rank) {
        Rank& r = ranks_[rank];
        if (r.now.empty() && r.open.empty() && !r.later.empty()) {
            r.clock = std::max(r.clock, r.later.begin()->first);
        }
        while (!r.later.empty() && r.later.begin()->first <= r.clock) {
            const std::uint32_t part = r.later.begin()->second;
            r.later.erase(r.later.begin());
            const Part& p = parts_.all()[part];
            r.now.emplace(priority_of(p), p.item.piece == Item::kWhole ? 0 : p.item.piece, p.item.node, part);
        }
        if (!r.open.empty()) {
            return join(rank, *r.open.begin());
        }
        ASSERT(!r.now.empty());
        const std::uint32_t part = std::get<3>(*r.now.begin());
        if (parts_.all()[part].meeting != kNone) {
            return join(rank, parts_.all()[part].meeting);
        }
        r.now.erase(r.now.begin());
        r.clock += parts_.all()[part].cost;
        finish(part, r.clock);
        return 1;
    }

    std::size_t join(std::uint32_t rank, std::uint32_t meeting) {
        Meeting& m = parts_.meetings()[meeting];
        m.present.insert(rank);
        m.arrival = std::max({m.arrival, m.ready, ranks_[rank].clock});
        ranks_[rank].is_waiting = true;
        ranks_[rank].open.erase(meeting);
        if (m.present.size() < m.parts.size()) {
            for (const std::uint32_t part : m.parts) {
                const std::uint32_t other = parts_.all()[part].rank;
                if (!m.present.contains(other)) {
                    ranks_[other].open.insert(meeting);
                }
            }
            return 0;
        }
        for (const std::uint32_t part : m.parts) {
            Rank& r = ranks_[parts_.all()[part].rank];
            std::erase_if(r.now, [&](const Key& key) { return std::get<3>(key) == part; });
            std::erase_if(r.later, [&](const auto& entry) { return entry.second == part; });
            r.is_waiting = false;
            r.clock = m.arrival + parts_.all()[part].cost;
        }
        for (const std::uint32_t part : m.parts) {
            finish(part, m.arrival + parts_.all()[part].cost);
        }
        return m.parts.size();
    }

    void finish(std::uint32_t part, std::uint64_t time) {
        const Part& p = parts_.all()[part];
        ranks_[p.rank].order.push_back(p.item);
        for (const std::uint32_t next : p.next) {
            let(next, time);
        }
        const auto key = std::pair(p.rank, p.item.piece);
        if (is_in(p, Phase::kBackward) && --backward_[key] == 0) {
            if (const auto found = held_.find(key); found != held_.end()) {
                const std::vector<std::uint32_t> parts = std::move(found->second);
                held_.erase(found);
                release(parts, time);
            }
        }
    }

    const Plan& plan_;
    Parts parts_;
    std::vector<Rank> ranks_;
    std::vector<Phase> phases_;
    // By rank and piece, backward parts that are to be done, and forward parts that wait for that.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> backward_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> held_;
};

}  // namespace

std::vector<std::vector<Item>> order_of(const Plan& plan, const program::Program& program) {
    return Player(plan, program).run();
}

}  // namespace assay::plan
