// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/turns.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::plan {

using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;
using program::Program;
using program::Specialised;
using program::StepKinds;

namespace {

using Tensors = std::set<std::uint32_t>;

bool is_state(const Input& input) { return input.source == Source::kState; }

/// The tensors that the graph does not pass on as they are.
Tensors changed_by(const Graph& graph) {
    Tensors out;
    const std::vector<Input>& next = graph.back().inputs;
    for (std::uint32_t i = 0; i < next.size(); ++i) {
        if (!is_state(next[i]) || next[i].index != i) {
            out.insert(i);
        }
    }
    return out;
}

/// The nodes that the next values of `wanted` need, and the loss.
std::vector<bool> nodes_for(
    const Graph& graph, const Tensors& wanted, std::optional<std::uint32_t> loss = std::nullopt
) {
    std::vector<bool> is_needed(graph.size(), false);
    if (loss) {
        is_needed[*loss] = true;
    }
    const auto need = [&](const Input& input) {
        if (!is_state(input)) {
            is_needed[input.index] = true;
        }
    };
    for (const std::uint32_t tensor : wanted) {
        need(graph.back().inputs[tensor]);
    }
    for (std::size_t i = graph.size() - 1; i-- > 0;) {
        if (is_needed[i]) {
            std::for_each(graph[i].inputs.begin(), graph[i].inputs.end(), need);
        }
    }
    return is_needed;
}

/// The tensors from before the step that the next values of `wanted` need, and the loss.
Tensors read_for(const Graph& graph, const Tensors& wanted, std::optional<std::uint32_t> loss = std::nullopt) {
    Tensors out;
    const auto note = [&](const Input& input) {
        if (is_state(input)) {
            out.insert(input.index);
        }
    };
    const std::vector<bool> is_needed = nodes_for(graph, wanted, loss);
    for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
        if (is_needed[i]) {
            std::for_each(graph[i].inputs.begin(), graph[i].inputs.end(), note);
        }
    }
    for (const std::uint32_t tensor : wanted) {
        note(graph.back().inputs[tensor]);
    }
    return out;
}

Tensors without(const Tensors& some, const Tensors& others) {
    Tensors out;
    std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::inserter(out, out.end()));
    return out;
}

bool meet(const Tensors& some, const Tensors& others) {
    return std::any_of(some.begin(), some.end(), [&](std::uint32_t tensor) { return others.contains(tensor); });
}

Tensors set_of(const std::vector<std::uint32_t>& tensors) { return {tensors.begin(), tensors.end()}; }
std::vector<std::uint32_t> list_of(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

/// The numbers of steps and of replicas, and of the rounds of a cycle: the program counts which turn it is, and which
/// round.
bool count_turns(const Graph& step, Turns& turns) {
    const auto is_turn = [](const Node& node) {
        return node.op == Op::kStepCount && node.attributes[1] > 1 && node.attributes[0] > 1;
    };
    const auto found = std::find_if(step.begin(), step.end(), is_turn);
    if (found == step.end()) {
        return false;
    }
    turns.steps = found->attributes[0];
    turns.replicas = found->attributes[1];
    const auto is_round = [&](const Node& node) { return is_turn(node) && node.attributes[0] == turns.round_steps(); };
    const auto round = std::find_if(step.begin(), step.end(), is_round);
    turns.cycle = round == step.end() ? 1 : round->attributes[1];
    return true;
}

/// The last step of a round, in which the next values of what the turn has changed are those that there are: what
/// follows from them alone.
Graph with_given(const Graph& last, const Tensors& given) {
    Graph out = last;
    const std::vector<Input> next = last.back().inputs;
    for (Node& node : out) {
        for (Input& input : node.inputs) {
            for (const std::uint32_t tensor : given) {
                if (!is_state(next[tensor]) && input == next[tensor]) {
                    input.source = Source::kState;
                    input.index = tensor;
                }
            }
        }
    }
    return out;
}

class Finder {
  public:
    explicit Finder(const Program& program) : program_(program), kinds_(program.step) {}

    std::optional<Turns> find() {
        if (!count_turns(program_.step, turns_) || !kinds_.has_choices()) {
            return std::nullopt;
        }
        lasts_.resize(turns_.cycle);
        for (std::uint32_t replica = 0; replica < turns_.replicas; ++replica) {
            if (!add_turn(replica)) {
                return std::nullopt;
            }
        }
        return divide() && are_apart() && end() ? std::optional(std::move(turns_)) : std::nullopt;
    }

  private:
    std::uint64_t last_step(std::uint32_t replica) const { return (replica + std::uint64_t{1}) * turns_.steps - 1; }
    Graph graph_at(std::uint64_t step) const { return kinds_.graph_of(program_.step, kinds_.kind_of(step)).graph; }

    // All steps of a turn but the last have to be of one kind, in every round of a cycle and the first of the next; the
    // last is of one kind in every cycle.
    bool add_turn(std::uint32_t replica) {
        const std::uint64_t first = std::uint64_t{replica} * turns_.steps;
        const program::StepKind kind = kinds_.kind_of(first);
        for (std::uint32_t round = 0; round <= turns_.cycle; ++round) {
            const std::uint64_t begin = round * turns_.round_steps();
            for (std::uint64_t step = first; step < last_step(replica); ++step) {
                if (kinds_.kind_of(begin + step) != kind) {
                    return false;
                }
            }
            const std::uint64_t again = (round % turns_.cycle) * turns_.round_steps();
            if (kinds_.kind_of(begin + last_step(replica)) != kinds_.kind_of(again + last_step(replica))) {
                return false;
            }
            if (round < turns_.cycle) {
                lasts_[round].push_back(graph_at(begin + last_step(replica)));
            }
        }
        steps_.push_back(graph_at(first));
        return true;
    }

    Tensors changed_in_turn(std::uint32_t replica) const {
        Tensors out = changed_by(steps_[replica]);
        for (const std::vector<Graph>& lasts : lasts_) {
            out.merge(changed_by(lasts[replica]));
        }
        return out;
    }

    // Whose each tensor is.
    bool divide() {
        std::vector<Tensors> changed;
        for (std::uint32_t replica = 0; replica + 1 < turns_.replicas; ++replica) {
            changed.push_back(changed_in_turn(replica));
        }
        Tensors worked = changed_by(steps_.back());
        Tensors others;
        for (const Tensors& tensors : changed) {
            others.insert(tensors.begin(), tensors.end());
        }
        const Tensors others_own = without(others, worked);
        Tensors own = without(worked, others);
        Tensors common;
        // And those that the last turn changes without what other replicas have sent.
        for (const std::vector<Graph>& lasts : lasts_) {
            for (const std::uint32_t tensor : without(changed_by(lasts.back()), worked)) {
                if (!own.contains(tensor)) {
                    (meet(read_for(lasts.back(), {tensor}), others_own) ? common : own).insert(tensor);
                }
            }
        }
        if (meet(own, common)) {
            return false;
        }
        worked = without(worked, own);
        for (const Tensors& tensors : changed) {
            turns_.own.push_back(list_of(without(tensors, worked)));
        }
        turns_.own.push_back(list_of(own));
        turns_.common = list_of(common);
        turns_.worked.resize(turns_.replicas);
        return std::all_of(worked.begin(), worked.end(), [&](std::uint32_t tensor) { return find_beginnings(tensor); });
    }

    // Every turn but the last ends with the value of a tensor that the next turn may begin with.
    bool find_beginnings(std::uint32_t tensor) {
        for (std::uint32_t replica = 1; replica < turns_.replicas; ++replica) {
            const Input& source = lasts_.front()[replica - 1].back().inputs[tensor];
            const auto is_other = [&](const std::vector<Graph>& lasts) {
                return lasts[replica - 1].back().inputs[tensor] != source;
            };
            if (!is_state(source) || !may_begin(replica, source.index) ||
                std::any_of(lasts_.begin(), lasts_.end(), is_other)) {
                return false;
            }
            turns_.worked[replica].emplace_back(tensor, source.index);
        }
        return find_first_beginning(tensor);
    }

    bool may_begin(std::uint32_t replica, std::uint32_t source) const {
        const auto has = [&](const std::vector<std::uint32_t>& tensors) {
            return std::binary_search(tensors.begin(), tensors.end(), source);
        };
        return has(turns_.common) || has(turns_.own[replica]);
    }

    // And the last turn, like the initialisation, with what some tensor has then too.
    bool find_first_beginning(std::uint32_t tensor) {
        const std::vector<Input>& at_init = program_.init.back().inputs;
        const auto is_source = [&](std::uint32_t source) {
            const auto ends_with_it = [&](const std::vector<Graph>& lasts) {
                const std::vector<Input>& at_end = lasts.back().back().inputs;
                return at_end[tensor] == at_end[source];
            };
            return source != tensor && at_init[tensor] == at_init[source] && may_begin(0, source) &&
                   std::all_of(lasts_.begin(), lasts_.end(), ends_with_it);
        };
        for (std::uint32_t source = 0; source < at_init.size(); ++source) {
            if (is_source(source)) {
                turns_.worked[0].emplace_back(tensor, source);
                return true;
            }
        }
        return false;
    }

    // No turn reads or changes what another one changes.
    bool are_apart() const {
        Tensors all;
        std::size_t count = 0;
        for (const auto& own : turns_.own) {
            all.insert(own.begin(), own.end());
            count += own.size();
        }
        if (all.size() != count) {
            return false;
        }
        for (std::uint32_t replica = 0; replica < turns_.replicas; ++replica) {
            Tensors mine = set_of(turns_.own[replica]);
            const Tensors others = without(all, mine);
            const Tensors in_last = mine;
            for (const auto& [tensor, source] : turns_.worked[replica]) {
                mine.insert(tensor);
            }
            const auto reads_others = [&](const std::vector<Graph>& lasts) {
                return meet(read_for(lasts[replica], in_last), others);
            };
            if (meet(read_for(steps_[replica], mine), others) ||
                std::any_of(lasts_.begin(), lasts_.end(), reads_others)) {
                return false;
            }
        }
        return true;
    }

    bool end() {
        return std::all_of(lasts_.begin(), lasts_.end(), [this](const auto& lasts) { return end_of(lasts.back()); });
    }

    // The end of a round follows from the common tensors and from what replicas have.
    bool end_of(const Graph& last) {
        const Tensors wanted = set_of(turns_.common);
        const Tensors given = set_of(turns_.own.back());
        const Graph graph = with_given(last, given);
        const std::vector<bool> is_needed = nodes_for(graph, wanted);
        const Tensors read = read_for(graph, wanted);
        Tensors known = set_of(turns_.common);
        turns_.sent.emplace_back();
        for (const auto& own : turns_.own) {
            auto& sent = turns_.sent.back().emplace_back();
            std::copy_if(own.begin(), own.end(), std::back_inserter(sent), [&](std::uint32_t tensor) {
                return read.contains(tensor);
            });
            known.insert(own.begin(), own.end());
        }
        for (std::size_t i = 0; i < graph.size(); ++i) {
            // What is given stands for the next value alone: nothing may read the one before.
            const std::vector<Input>& inputs = last[i].inputs;
            const bool reads_before = std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) {
                return is_state(input) && given.contains(input.index);
            });
            if (is_needed[i] && (graph[i].op == Op::kBatchRows || reads_before)) {
                return false;
            }
        }
        return std::includes(known.begin(), known.end(), read.begin(), read.end());
    }

    const Program& program_;
    const StepKinds kinds_;
    Turns turns_;
    std::vector<Graph> steps_;               // of each replica, before the last of its turn
    std::vector<std::vector<Graph>> lasts_;  // of each round of a cycle and each replica
};

/// The part of `graph` that makes the next values of `wanted`; other tensors that it reads are passed on.
PartialGraph part_of(const Graph& graph, const Tensors& wanted, std::optional<std::uint32_t> loss) {
    const std::vector<bool> is_needed = nodes_for(graph, wanted, loss);
    Tensors read = read_for(graph, wanted, loss);
    read.insert(wanted.begin(), wanted.end());
    PartialGraph out;
    out.tensors = list_of(read);
    std::vector<std::uint32_t> place(graph.size(), 0);
    const auto moved = [&](Input input) {
        if (is_state(input)) {
            const auto at = std::lower_bound(out.tensors.begin(), out.tensors.end(), input.index);
            input.index = static_cast<std::uint32_t>(at - out.tensors.begin());
        } else {
            input.index = place[input.index];
        }
        return input;
    };
    for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
        if (is_needed[i]) {
            Node node = graph[i];
            std::transform(node.inputs.begin(), node.inputs.end(), node.inputs.begin(), moved);
            place[i] = static_cast<std::uint32_t>(out.graph.size());
            out.graph.push_back(std::move(node));
        }
    }
    Node commit = graph.back();
    std::vector<Input> next;
    for (const std::uint32_t tensor : out.tensors) {
        Input input = commit.inputs[tensor];
        if (!wanted.contains(tensor)) {
            input.source = Source::kState;
            input.index = tensor;
        }
        next.push_back(moved(input));
    }
    commit.inputs = std::move(next);
    out.graph.push_back(std::move(commit));
    out.loss_node = loss ? place[*loss] : 0;
    return out;
}

}  // namespace

std::optional<Turns> find_turns(const Program& program) { return Finder(program).find(); }

PartialGraph turn_graph(
    const Program& program, const Turns& turns, std::uint32_t replica, std::optional<std::uint32_t> last_of
) {
    const StepKinds kinds(program.step);
    const std::uint64_t first = std::uint64_t{replica} * turns.steps;
    const std::uint64_t step = last_of ? *last_of * turns.round_steps() + first + turns.steps - 1 : first;
    const std::array<std::uint32_t, 1> loss{program.loss_node};
    const Specialised special = kinds.graph_of(program.step, kinds.kind_of(step), loss);
    Tensors wanted = set_of(turns.own[replica]);
    for (const auto& [tensor, source] : turns.worked[replica]) {
        if (!last_of) {
            wanted.insert(tensor);
        }
    }
    return part_of(special.graph, wanted, special.kept[0]);
}

PartialGraph end_graph(const Program& program, const Turns& turns, std::uint32_t place) {
    const StepKinds kinds(program.step);
    const std::uint64_t step = (place + std::uint64_t{1}) * turns.round_steps() - 1;
    const Graph last = kinds.graph_of(program.step, kinds.kind_of(step)).graph;
    const Tensors changed = changed_by(last);
    Tensors wanted;
    for (const std::uint32_t tensor : turns.common) {
        if (changed.contains(tensor)) {
            wanted.insert(tensor);
        }
    }
    return part_of(with_given(last, set_of(turns.own.back())), wanted, std::nullopt);
}

}  // namespace assay::plan
