// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/recompute.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include <core/base/assert.hpp>

namespace assay::engine::fused {

using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

constexpr std::uint64_t kSmall = 32;
/// Capacities are in parts of a byte: a multiply-add costs less than one.
constexpr std::int64_t kUnit = 1024;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 1024;

bool is_reduction(Op op) {
    return op == Op::kRowMax || op == Op::kRowArgMax || op == Op::kRowSum || op == Op::kRowExponent;
}

/// The cut of least capacity between what can be had before a boundary and what is read after it.
class Network {
  public:
    explicit Network(std::size_t nodes) : graph_(2 * nodes + 2), source_(2 * nodes), sink_(2 * nodes + 1) {}

    static std::size_t in(std::size_t node) { return 2 * node; }
    static std::size_t out(std::size_t node) { return 2 * node + 1; }
    std::size_t source() const { return source_; }
    std::size_t sink() const { return sink_; }

    void connect(std::size_t from, std::size_t to, std::int64_t capacity) {
        const auto forth = boost::add_edge(from, to, graph_).first;
        const auto back = boost::add_edge(to, from, graph_).first;
        boost::put(boost::edge_capacity, graph_, forth, capacity);
        boost::put(boost::edge_capacity, graph_, back, 0);
        boost::put(boost::edge_reverse, graph_, forth, back);
        boost::put(boost::edge_reverse, graph_, back, forth);
    }

    /// Whether each vertex is on the sink's side of the cut that is nearest to the sink.
    std::vector<bool> sink_side() {
        boost::push_relabel_max_flow(graph_, source_, sink_);
        std::vector<bool> reached(boost::num_vertices(graph_), false);
        std::vector<std::size_t> open{sink_};
        reached[sink_] = true;
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            for (auto [edge, end] = boost::out_edges(at, graph_); edge != end; ++edge) {
                const auto back = boost::get(boost::edge_reverse, graph_, *edge);
                const std::size_t from = boost::target(*edge, graph_);
                if (!reached[from] && boost::get(boost::edge_residual_capacity, graph_, back) > 0) {
                    reached[from] = true;
                    open.push_back(from);
                }
            }
        }
        return reached;
    }

  private:
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using Edge = boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<
            boost::edge_residual_capacity_t, std::int64_t,
            boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>;
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Edge> graph_;
    std::size_t source_;
    std::size_t sink_;
};

/// Writes a graph anew, with copies of nodes between.
class Writer {
  public:
    explicit Writer(const Graph& graph) : graph_(graph) { out_.nodes.assign(graph.size(), kNone); }

    /// Writes node `i`, or a copy of it. `place_of` says where the nodes are that it reads.
    template <class PlaceOf>
    std::uint32_t write(std::uint32_t i, PlaceOf place_of) {
        Node node = graph_[i];
        for (Input& input : node.inputs) {
            if (input.source == Source::kNode) {
                input.index = place_of(input.index);
                ASSERT(input.index != kNone);
            }
        }
        out_.graph.push_back(std::move(node));
        return static_cast<std::uint32_t>(out_.graph.size() - 1);
    }
    std::uint32_t place(std::uint32_t i) const { return out_.nodes[i]; }
    void set_wall() { out_.wall = static_cast<std::uint32_t>(out_.graph.size()); }
    void set_place(std::uint32_t i, std::uint32_t place) { out_.nodes[i] = place; }
    Rewritten take() { return std::move(out_); }

  private:
    const Graph& graph_;
    Rewritten out_;
};

bool is_source(const Node& node) {
    return (node.op == Op::kOneHot || node.op == Op::kFill) && node.shape.element_count() > kSmall;
}

class Recomputation {
  public:
    explicit Recomputation(const Plan& plan)
        : plan_(plan), graph_(plan.graph), count_(static_cast<std::uint32_t>(graph_.size() - 1)) {}

    Rewritten run(std::uint64_t work_max) {
        choose(work_max);
        Writer writer(graph_);
        copies_.assign(count_, kNone);
        bool is_behind = false;
        for (const std::uint32_t i : in_order()) {
            if (is_late(i) && !is_behind) {
                writer.set_wall();
                is_behind = true;
            }
            const auto place_of = [&](std::uint32_t node) {
                return is_late(i) && again_[node] ? copies_[node] : writer.place(node);
            };
            for (const Input& input : graph_[i].inputs) {
                if (is_late(i) && input.source == Source::kNode && again_[input.index]) {
                    copy(writer, input.index);
                }
            }
            writer.set_place(i, writer.write(i, place_of));
        }
        writer.set_place(count_, writer.write(count_, [&](std::uint32_t node) { return writer.place(node); }));
        return writer.take();
    }

  private:
    /// As they are executed: copies lie where they are read first.
    std::vector<std::uint32_t> in_order() const {
        std::vector<std::uint32_t> order(count_);
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return plan_.stage_of[a] < plan_.stage_of[b];
        });
        return order;
    }

    bool is_early(std::uint32_t i) const { return plan_.stage_of[i] < plan_.busiest_stage; }
    bool is_late(std::uint32_t i) const {
        return plan_.stage_of[i] > plan_.busiest_stage && plan_.stage_of[i] != kNever;
    }

    std::int64_t price(std::uint32_t i, std::uint64_t work_max) const {
        const Node& node = graph_[i];
        if (node.op == Op::kBatchRows || node.op == Op::kScatterAddRows) {
            return kUnlimited;
        }
        const auto bytes = node.shape.element_count() * work_per_element(node) * 4 * kUnit / work_max;
        return static_cast<std::int64_t>(bytes);
    }

    void choose(std::uint64_t work_max) {
        Network network(count_);
        for (std::uint32_t i = 0; i < count_; ++i) {
            for (const Input& input : graph_[i].inputs) {
                if (input.source != Source::kNode || !is_early(input.index)) {
                    continue;
                }
                if (is_early(i)) {
                    network.connect(Network::out(input.index), Network::in(i), kUnlimited);
                } else if (is_late(i)) {
                    network.connect(Network::out(input.index), network.sink(), kUnlimited);
                }
            }
            if (is_early(i)) {
                const auto bytes = static_cast<std::int64_t>(plan_.values[i].size_bytes()) * kUnit;
                network.connect(Network::in(i), Network::out(i), bytes);
                network.connect(network.source(), Network::in(i), price(i, work_max));
            }
        }
        const std::vector<bool> is_read_late = network.sink_side();
        again_.assign(count_, false);
        for (std::uint32_t i = 0; i < count_; ++i) {
            again_[i] = is_early(i) && is_read_late[Network::in(i)];
        }
    }

    /// Writes a copy of `node`, after one of everything it reads that is computed again too.
    void copy(Writer& writer, std::uint32_t node) {
        std::vector<std::uint32_t> open{node};
        while (!open.empty()) {
            const std::uint32_t at = open.back();
            const std::size_t before = open.size();
            for (const Input& input : graph_[at].inputs) {
                const bool is_missing =
                    input.source == Source::kNode && again_[input.index] && copies_[input.index] == kNone;
                if (is_missing && copies_[at] == kNone) {
                    open.push_back(input.index);
                }
            }
            if (open.size() > before) {
                continue;
            }
            open.pop_back();
            if (copies_[at] == kNone) {
                copies_[at] = writer.write(at, [&](std::uint32_t input) {
                    return again_[input] ? copies_[input] : writer.place(input);
                });
            }
        }
    }

    const Plan& plan_;
    const Graph& graph_;
    std::uint32_t count_;
    std::vector<bool> again_;            // whether late readers read a copy
    std::vector<std::uint32_t> copies_;  // kNone: there is none
};

}  // namespace

std::uint64_t work_per_element(const Node& node) {
    if (node.op == Op::kContract) {
        return node.inputs[0].shape.cols;
    }
    std::uint64_t read = 1;
    for (const Input& input : node.inputs) {
        read = std::max(read, input.shape.element_count());
    }
    return std::max<std::uint64_t>(1, is_reduction(node.op) ? read / node.shape.element_count() : 1);
}

Rewritten copy_sources(const Graph& graph) {
    Writer writer(graph);
    std::vector<bool> is_taken(graph.size(), false);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        std::map<std::uint32_t, std::uint32_t> own;
        for (const Input& input : graph[i].inputs) {
            if (input.source != Source::kNode || !is_source(graph[input.index])) {
                continue;
            }
            if (is_taken[input.index] && !own.contains(input.index)) {
                own[input.index] = writer.write(input.index, [&](std::uint32_t node) { return writer.place(node); });
            } else {
                own.emplace(input.index, writer.place(input.index));
            }
            is_taken[input.index] = true;
        }
        writer.set_place(i, writer.write(i, [&](std::uint32_t node) {
            const auto found = own.find(node);
            return found == own.end() ? writer.place(node) : found->second;
        }));
    }
    return writer.take();
}

Rewritten recompute(const Plan& plan, std::uint64_t work_max) { return Recomputation(plan).run(work_max); }

}  // namespace assay::engine::fused
