// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/grouping.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/plan/live_bytes.hpp>

namespace assay::plan {

using canonical::Graph;

namespace {

using RankBytes = std::vector<std::uint64_t>;  // by rank; empty: none

void add(RankBytes& to, const RankBytes& what) {
    for (std::size_t rank = 0; rank < what.size(); ++rank) {
        to[rank] += what[rank];
    }
}
void subtract(RankBytes& from, const RankBytes& what) {
    for (std::size_t rank = 0; rank < what.size(); ++rank) {
        ASSERT(from[rank] >= what[rank]);
        from[rank] -= what[rank];
    }
}
std::uint64_t most(const RankBytes& bytes) { return *std::max_element(bytes.begin(), bytes.end()); }

// A node on its way.
struct Course {
    NodeBytes bytes;
    std::vector<std::uint32_t> readers{};
    std::vector<std::uint32_t> lent_to{};  // nodes for which ranks lack some of this one
    std::uint32_t missing = 0;             // nodes that it reads and that are not complete
    std::uint32_t not_lent = 0;            // the same, of those that ranks lack something of
    std::uint32_t unread = 0;              // readers that are not computed yet
    bool is_asked_for = false;             // what ranks lack of its inputs
    bool is_there = false;                 // likewise
    bool is_computed = false;

    bool needs_others() const { return !bytes.received.empty() && !is_asked_for; }
    bool is_ready() const { return missing == 0 && (bytes.received.empty() || !is_asked_for || is_there); }
};

// For each sender and receiver the first receiver that is sent the same by that sender, which is the number of ranks if
// nothing is sent. Messages that agree in this can be put together: who was told the same is told the same then.
std::vector<std::uint32_t> alike_receivers(const Plan& plan, const Graph& graph, const Sending& sending) {
    const std::uint32_t ranks = plan.layout.ranks();
    if (ranks <= 2) {
        return {};
    }
    using Told = std::vector<std::pair<std::size_t, Block>>;
    std::vector<Told> told(std::size_t{ranks} * ranks);
    const auto add_all = [&](std::size_t input, const std::vector<Transfer>& all) {
        for (const Transfer& transfer : all) {
            told[transfer.from * ranks + transfer.to].emplace_back(input, transfer.block);
        }
    };
    const NodePlan& node = plan.nodes[sending.item.node];
    if (sending.what == Sent::kInputs) {
        const auto inputs = input_transfers(plan, graph, sending.item);
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            add_all(k, inputs[k]);
        }
    } else if (sending.what == Sent::kOutput) {
        add_all(0, output_transfers(plan, graph, sending.item));
    } else {
        for (std::uint32_t from = 0; from < ranks; ++from) {
            for (std::uint32_t to = 0; to < ranks; ++to) {
                if (from != to && !node.finished[to].is_empty() && node.work[from] == node.work[to]) {
                    told[from * ranks + to].emplace_back(0, node.finished[to]);
                }
            }
        }
    }
    std::vector<std::uint32_t> out;
    for (std::uint32_t from = 0; from < ranks; ++from) {
        const auto begin = told.begin() + std::ptrdiff_t{from} * ranks;
        for (auto to = begin; to != begin + ranks; ++to) {
            out.push_back(to->empty() ? ranks : static_cast<std::uint32_t>(std::find(begin, to, *to) - begin));
        }
    }
    return out;
}

class Grouping {
  public:
    Grouping(Plan& plan, const program::Program& program, const GroupLimits& limits)
        : plan_(plan),
          graph_(program.step),
          loss_(program.loss_node),
          limits_(limits),
          courses_(graph_.size() - 1),
          live_(plan.layout.ranks()),
          asked_(plan.layout.ranks()),
          sent_(plan.layout.ranks()) {
        for (std::uint32_t i = 0; i < courses_.size(); ++i) {
            courses_[i].bytes = bytes_of(plan_, graph_, i);
            for_each_read(graph_[i], [&](std::uint32_t read) {
                courses_[read].readers.push_back(i);
                ++courses_[i].missing;
            });
            find_lenders(i);
        }
        for_each_read(graph_.back(), [&](std::uint32_t read) { ++courses_[read].unread; });
        for (Course& course : courses_) {
            course.unread += static_cast<std::uint32_t>(course.readers.size());
        }
        ++courses_[loss_].unread;  // kept until the end
        find_program_order();
    }

    void run() {
        for (std::uint32_t i = 0; i < courses_.size(); ++i) {
            if (courses_[i].missing == 0) {
                ready_.insert(i);
            }
            if (courses_[i].needs_others() && courses_[i].not_lent == 0) {
                askable_.insert(i);
            }
        }
        while (first_ < courses_.size()) {
            if (ready_.empty() || !has_room_for(*ready_.begin())) {
                exchange();
            } else {
                advance(*ready_.begin());
            }
            while (most(sent_) >= limits_.message_bytes) {
                exchange();
            }
            while (first_ < courses_.size() && courses_[first_].is_computed) {
                ++first_;
            }
        }
        while (!pending_.empty()) {
            exchange();
        }
        plan_.order.assign(plan_.layout.ranks(), order_);
        plan_.exchanges.assign(plan_.layout.ranks(), exchanges_);
    }

  private:
    void find_lenders(std::uint32_t node) {
        if (courses_[node].bytes.received.empty()) {
            return;
        }
        const auto inputs = input_transfers(plan_, graph_, {node, Item::kWhole});
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const canonical::Input& input = graph_[node].inputs[k];
            if (!inputs[k].empty() && input.source == canonical::Source::kNode) {
                courses_[input.index].lent_to.push_back(node);
                ++courses_[node].not_lent;
            }
        }
    }

    // What ranks have of values before each node, if nodes are executed in the order of the program.
    void find_program_order() {
        RankBytes live(live_.size());
        std::uint64_t peak = 0;
        std::vector<std::uint32_t> unread;
        for (const Course& course : courses_) {
            unread.push_back(course.unread);
        }
        for (std::uint32_t i = 0; i < courses_.size(); ++i) {
            in_program_order_.push_back(live);
            add(live, courses_[i].bytes.held);
            peak = std::max(peak, most(live));
            for_each_read(graph_[i], [&](std::uint32_t node) {
                if (--unread[node] == 0) {
                    subtract(live, courses_[node].bytes.held);
                }
            });
            if (unread[i] == 0) {
                subtract(live, courses_[i].bytes.held);
            }
        }
        room_ = std::max(limits_.waiting_bytes, peak / limits_.peak_share);
    }

    // Whether ranks may go on with a node before those ahead of it in the program.
    bool has_room_for(std::uint32_t node) const {
        if (node == first_) {
            return true;
        }
        const Course& course = courses_[node];
        return is_room_for(course.needs_others() ? course.bytes.received : course.bytes.computed);
    }

    bool is_room_for(const RankBytes& more) const {
        for (std::size_t rank = 0; rank < live_.size(); ++rank) {
            const std::uint64_t added = more.empty() ? 0 : more[rank];
            if (live_[rank] + asked_[rank] + added > in_program_order_[first_][rank] + room_) {
                return false;
            }
        }
        return true;
    }

    void advance(std::uint32_t node) {
        Course& course = courses_[node];
        ready_.erase(node);
        if (course.needs_others()) {
            ask_for(node);
            return;
        }
        order_.push_back({node, Item::kWhole});
        course.is_computed = true;
        subtract(live_, course.bytes.received);
        add(live_, course.bytes.computed);
        for_each_read(graph_[node], [&](std::uint32_t read) {
            if (--courses_[read].unread == 0) {
                subtract(live_, courses_[read].bytes.held);
            }
        });
        if (plan_.nodes[node].is_divided) {
            put_off(node, Sent::kParts, course.bytes.sent_parts);
        } else {
            hand_out(node);
        }
    }

    void ask_for(std::uint32_t node) {
        Course& course = courses_[node];
        course.is_asked_for = true;
        askable_.erase(node);
        add(asked_, course.bytes.received);
        put_off(node, Sent::kInputs, course.bytes.sent_inputs);
    }

    // Since ranks exchange anyway: what nodes further on need, of which the rest is not there yet. By ZeRO-3 these are
    // the parameters of the next layers.
    void ask_ahead() {
        while (!askable_.empty() && most(sent_) < limits_.message_bytes &&
               is_room_for(courses_[*askable_.begin()].bytes.received)) {
            ask_for(*askable_.begin());
        }
    }

    // What is put together, or computed, is everybody's that needs it after one more exchange, or at once.
    void hand_out(std::uint32_t node) {
        if (courses_[node].bytes.sent_output.empty()) {
            complete(node);
        } else {
            put_off(node, Sent::kOutput, courses_[node].bytes.sent_output);
        }
    }

    void complete(std::uint32_t node) {
        const Course& course = courses_[node];
        subtract(live_, course.bytes.finished);
        add(live_, course.bytes.held);
        if (course.unread == 0) {
            subtract(live_, course.bytes.held);
        }
        for (const std::uint32_t borrower : course.lent_to) {
            if (--courses_[borrower].not_lent == 0 && !courses_[borrower].is_asked_for) {
                askable_.insert(borrower);
            }
        }
        for (const std::uint32_t reader : course.readers) {
            --courses_[reader].missing;
            if (courses_[reader].is_ready()) {
                ready_.insert(reader);
            }
        }
    }

    void put_off(std::uint32_t node, Sent what, const RankBytes& sent) {
        const Sending sending{{node, Item::kWhole}, what};
        const auto [found, is_new] =
            alikes_.try_emplace(alike_receivers(plan_, graph_, sending), static_cast<std::uint32_t>(alikes_.size()));
        const std::uint32_t alike = found->second;
        const auto same =
            std::find_if(pending_.begin(), pending_.end(), [&](const Pending& each) { return each.alike == alike; });
        if (same == pending_.end()) {
            pending_.push_back({alike, {sending}});
        } else {
            same->sendings.push_back(sending);
        }
        add(sent_, sent);
    }

    void exchange() {
        ASSERT(!pending_.empty());
        ask_ahead();
        const std::vector<Pending> exchanged = std::exchange(pending_, {});
        exchanges_.push_back({.after = order_.size()});
        std::fill(sent_.begin(), sent_.end(), 0);
        std::fill(asked_.begin(), asked_.end(), 0);
        for (const Pending& message : exchanged) {
            exchanges_.back().messages.push_back(message.sendings);
            std::for_each(message.sendings.begin(), message.sendings.end(), [&](const Sending& each) { pass(each); });
        }
    }

    void pass(const Sending& sending) {
        const std::uint32_t node = sending.item.node;
        switch (sending.what) {
            case Sent::kInputs:
                add(live_, courses_[node].bytes.received);
                courses_[node].is_there = true;
                if (courses_[node].is_ready()) {
                    ready_.insert(node);
                }
                break;
            case Sent::kParts:
                subtract(live_, courses_[node].bytes.computed);
                add(live_, courses_[node].bytes.finished);
                hand_out(node);
                break;
            case Sent::kOutput:
                complete(node);
                break;
        }
    }

    struct Pending {
        std::uint32_t alike = 0;  // to whom what is the same
        std::vector<Sending> sendings{};
    };

    Plan& plan_;
    const Graph& graph_;
    std::uint32_t loss_;
    GroupLimits limits_;
    std::uint64_t room_ = 0;  // for values that ranks have only since exchanges were put off
    std::vector<Course> courses_;
    std::vector<RankBytes> in_program_order_;
    std::set<std::uint32_t> ready_;    // nodes that can be computed, or asked for
    std::set<std::uint32_t> askable_;  // nodes of which ranks have all that they lack of its inputs
    std::uint32_t first_ = 0;          // the first node of the program that is not computed
    RankBytes live_;
    RankBytes asked_;  // that ranks will have by what is put off
    RankBytes sent_;   // in what is put off
    std::vector<Pending> pending_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> alikes_;
    std::vector<Item> order_;
    std::vector<Exchange> exchanges_;
};

}  // namespace

void group_exchanges(Plan& plan, const program::Program& program, const GroupLimits& limits) {
    Grouping(plan, program, limits).run();
}

void exchange_at_once(Plan& plan, const Graph& graph) {
    struct Crossing {
        bool has_inputs = false;
        bool has_output = false;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Crossing> known;
    const auto crossing_of = [&](const Item& item) {
        const auto [found, is_new] = known.try_emplace({item.node, item.piece});
        if (is_new) {
            const auto inputs = input_transfers(plan, graph, item);
            found->second.has_inputs =
                std::any_of(inputs.begin(), inputs.end(), [](const auto& transfers) { return !transfers.empty(); });
            found->second.has_output = !output_transfers(plan, graph, item).empty();
        }
        return found->second;
    };
    plan.exchanges.clear();
    for (const std::vector<Item>& order : plan.order) {
        std::vector<Exchange>& exchanges = plan.exchanges.emplace_back();
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Crossing crossing = crossing_of(order[i]);
            if (crossing.has_inputs) {
                exchanges.push_back({.after = i, .messages = {{{order[i], Sent::kInputs}}}});
            }
            if (plan.nodes[order[i].node].is_divided) {
                exchanges.push_back({.after = i + 1, .messages = {{{order[i], Sent::kParts}}}});
            }
            if (crossing.has_output) {
                exchanges.push_back({.after = i + 1, .messages = {{{order[i], Sent::kOutput}}}});
            }
        }
    }
}

}  // namespace assay::plan
