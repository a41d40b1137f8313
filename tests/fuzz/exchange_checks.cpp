// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/exchange_checks.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace assay::fuzz {
namespace {

using canonical::Graph;
using canonical::Input;
using canonical::Source;
using plan::Exchange;
using plan::Item;
using plan::Plan;
using plan::Sending;
using plan::Sent;

using Key = std::tuple<std::uint32_t, std::uint32_t, Sent>;

Key key_of(const Item& item, Sent what) { return {item.node, item.piece, what}; }

bool needs(const Plan& plan, const Graph& graph, const Item& item, Sent what) {
    if (what == Sent::kParts) {
        return plan.nodes[item.node].is_divided;
    }
    if (what == Sent::kOutput) {
        return !output_transfers(plan, graph, item).empty();
    }
    const auto inputs = input_transfers(plan, graph, item);
    return std::any_of(inputs.begin(), inputs.end(), [](const auto& all) { return !all.empty(); });
}

// One rank's step.
class Walk {
  public:
    Walk(const Plan& plan, const Graph& graph, std::uint32_t rank) : plan_(plan), graph_(graph), rank_(rank) {}

    std::string run() {
        const std::vector<Item>& order = plan_.order[rank_];
        const std::vector<Exchange>& exchanges = plan_.exchanges[rank_];
        std::size_t next = 0;
        for (std::size_t i = 0; i <= order.size(); ++i) {
            for (; next < exchanges.size() && exchanges[next].after == i; ++next) {
                pass(exchanges[next]);
            }
            if (i < order.size()) {
                compute(order[i]);
            }
        }
        if (next < exchanges.size()) {
            note("an exchange comes after another that is later", order.back());
        }
        for (const Item& item : order) {
            for (const Sent what : {Sent::kInputs, Sent::kParts, Sent::kOutput}) {
                if (needs(plan_, graph_, item, what) != passed_.contains(key_of(item, what))) {
                    note("something is not exchanged, or for nothing", item);
                }
            }
        }
        return fault_;
    }

  private:
    void note(const std::string& what, const Item& item) {
        if (fault_.empty()) {
            fault_ = "rank " + std::to_string(rank_) + ", node " + std::to_string(item.node) + ": " + what;
        }
    }
    bool is_walked() const { return plan_.layout.micro_batches == 1; }

    bool is_finished(const Item& item) const {
        const bool is_divided = plan_.nodes[item.node].is_divided;
        return computed_.contains(item.node) && (!is_divided || passed_.contains(key_of(item, Sent::kParts)));
    }
    bool is_complete(const Item& item) const {
        const bool is_handed_out = needs(plan_, graph_, item, Sent::kOutput);
        return is_finished(item) && (!is_handed_out || passed_.contains(key_of(item, Sent::kOutput)));
    }
    bool is_there(const Input& input) const {
        return input.source == Source::kState || is_complete({input.index, Item::kWhole});
    }
    bool has_inputs(const Item& item) const {
        const std::vector<Input>& inputs = graph_[item.node].inputs;
        return std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) { return is_there(input); });
    }
    // The inputs of which ranks send each other something.
    bool has_sent_inputs(const Item& item) const {
        const auto sent = input_transfers(plan_, graph_, item);
        bool has_all = true;
        for (std::size_t k = 0; k < sent.size(); ++k) {
            has_all = has_all && (sent[k].empty() || is_there(graph_[item.node].inputs[k]));
        }
        return has_all;
    }

    void compute(const Item& item) {
        const bool is_there =
            !needs(plan_, graph_, item, Sent::kInputs) || passed_.contains(key_of(item, Sent::kInputs));
        if (is_walked() && (!has_inputs(item) || !is_there)) {
            note("it is computed before its inputs are there", item);
        }
        computed_.insert(item.node);
    }
    void pass(const Exchange& exchange) {
        // Messages of one exchange leave before any of them is received.
        for (const auto& message : exchange.messages) {
            if (message.empty()) {
                note("a message of nothing", {});
            }
            for (const Sending& sending : message) {
                const bool is_known = sending.what == Sent::kInputs  ? has_sent_inputs(sending.item)
                                      : sending.what == Sent::kParts ? computed_.contains(sending.item.node)
                                                                     : is_finished(sending.item);
                if (is_walked() && !is_known) {
                    note("it is sent before it is there", sending.item);
                }
            }
        }
        for (const auto& message : exchange.messages) {
            for (const Sending& sending : message) {
                if (!passed_.insert(key_of(sending.item, sending.what)).second) {
                    note("it is exchanged twice", sending.item);
                }
            }
        }
    }

    const Plan& plan_;
    const Graph& graph_;
    std::uint32_t rank_;
    std::set<std::uint32_t> computed_;
    std::set<Key> passed_;
    std::string fault_;
};

}  // namespace

std::string exchange_fault(const Plan& plan, const Graph& graph) {
    const bool is_one_order = plan.layout.micro_batches == 1;
    for (std::uint32_t rank = 0; rank < plan.layout.ranks(); ++rank) {
        if (is_one_order && (plan.order[rank] != plan.order[0] || plan.exchanges[rank] != plan.exchanges[0])) {
            return "rank " + std::to_string(rank) + " follows another order";
        }
        std::string fault = rank == 0 || !is_one_order ? Walk(plan, graph, rank).run() : std::string();
        if (!fault.empty()) {
            return fault;
        }
    }
    return {};
}

}  // namespace assay::fuzz
