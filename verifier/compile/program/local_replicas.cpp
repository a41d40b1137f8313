// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/local_replicas.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/compile/program/boundary.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/replicas.hpp>

namespace assay::program {

using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

namespace {

constexpr Shape kOne{1, 1};
constexpr std::uint32_t kMinBits = 2;  // of an integer, with its sign
constexpr std::uint32_t kMaxBits = 8;
constexpr std::uint64_t kMaxRound = std::uint64_t{1} << 24U;

std::uint32_t block_count(Shape shape, std::uint32_t block) {
    return static_cast<std::uint32_t>(div_ceil(shape.element_count(), std::uint64_t{block}));
}

/// What replica `replica` has of a tensor; the name begins and ends as the tensor's own (TOL-3).
std::string name_of_own(const std::string& name, std::uint32_t replica) {
    const std::string owner = "replica." + std::to_string(replica) + ".";
    for (const std::string_view prefix : {"momentum.", "adam.", "accumulated."}) {
        if (name.starts_with(prefix)) {
            return name.substr(0, prefix.size()) + owner + name.substr(prefix.size());
        }
    }
    return owner + name;
}

/// A state tensor before the step and after it.
struct Changing {
    Value before;
    Value next;
};

/// What belongs to one trained parameter.
struct Trained {
    std::uint32_t index = 0;     ///< in the state
    std::uint32_t fragment = 0;  ///< in which it is exchanged
    Changing shared;             ///< the value that a round begins with, or that exchanges have made
    std::vector<Value> own;      ///< of several fragments: each replica's, before its turn
    Changing momentum;           ///< of the outer step
    std::vector<Changing> sent;  ///< by each replica; kSparse: the values
    std::vector<Changing> places;
    std::vector<Changing> kept;
};

class Writer {
  public:
    Writer(const Program& program, const LocalReplicas& local)
        : base_(program), local_(local), own_(local.count), next_(program.state.size()) {}

    Result<Program, LocalError> write();

  private:
    bool changes(std::uint32_t index) const {
        return base_.step.back().inputs[index] != GraphBuilder::state(index, base_.state[index].type);
    }
    bool is_trained(std::uint32_t index) const {
        return changes(index) && group_of(base_.state[index]) == StateGroup::kParameter;
    }
    Result<void, LocalError> declare();
    Value add_state(std::string name, Shape shape, const Value& initial);
    Value add_zeros(std::string name, Shape shape) {
        return add_state(std::move(name), shape, init_.fill(shape, 0.0F));
    }
    void declare_trained(std::uint32_t index, std::uint32_t fragment);
    void declare_own(std::uint32_t index);
    void write_init();
    void write_turn();
    /// The node in the turn of a replica: reads of the state are those of its own state, counts of steps its own.
    Value copy(Node node);
    Value count_own_steps(std::uint32_t divisor, std::uint32_t modulus);
    Value read(const Value& input);
    void write_sent(Trained& trained, const Value& updated);
    Value sum_of_sent(const Trained& trained);
    void write_outer(Trained& trained, const Value& updated);
    void write_own(Trained& trained, const Value& updated);
    Value mixed(const Trained& trained, const Value& updated);
    bool is_streaming() const { return local_.fragments > 1; }
    Value in_turn_of(std::uint32_t replica) const { return is_turn_[replica]; }
    /// `value` at the end of the replica's turn of a round that exchanges the parameter, else `before`.
    Value at_end_of_turn(const Trained& trained, const Value& value, std::uint32_t replica, const Value& before) {
        const Value is_end = step_.mul(is_last_, in_turn_of(replica));
        return step_.select(value, is_streaming() ? step_.mul(is_end, is_round_of_[trained.fragment]) : is_end, before);
    }
    Value number(float value) { return step_.fill(kOne, value); }

    const Program& base_;
    const LocalReplicas local_;
    GraphBuilder init_;
    GraphBuilder step_;
    Program out_;
    std::vector<Value> initial_;           // of each state tensor, in init_
    std::vector<std::vector<Value>> own_;  // of each replica and base tensor: what it has before the step
    std::vector<Value> next_;              // of each state tensor
    std::vector<Trained> trained_;
    std::vector<std::uint32_t> private_;  // base tensors of which each replica has its own
    std::vector<Value> copied_;           // the nodes of the base's step
    std::vector<Value> is_turn_;
    std::vector<Value> is_round_of_;  // each fragment
    Value mixed_share_;               // of what the exchange made; 0 in the first round
    Value is_last_;
    Value own_step_;
};

Value Writer::add_state(std::string name, Shape shape, const Value& initial) {
    const auto index = static_cast<std::uint32_t>(out_.state.size());
    const canonical::TensorType type{canonical::DType::kF32, shape};
    out_.state.push_back(StateTensor{std::move(name), type});
    initial_.push_back(initial);
    next_.push_back(GraphBuilder::state(index, type));
    return next_.back();
}

void Writer::declare_trained(std::uint32_t index, std::uint32_t fragment) {
    const StateTensor& tensor = base_.state[index];
    const Shape shape = tensor.type.shape;
    Trained trained{
        .index = index,
        .fragment = fragment,
        .shared = {},
        .own = {},
        .momentum = {},
        .sent = {},
        .places = {},
        .kept = {}};
    trained.shared.before = add_state("accumulated.shared." + tensor.name, shape, initial_[index]);
    for (std::uint32_t i = 0; is_streaming() && i < local_.count; ++i) {
        const std::string name = "accumulated.replica." + std::to_string(i) + "." + tensor.name;
        trained.own.push_back(add_state(name, shape, initial_[index]));
    }
    if (local_.outer_momentum > 0.0F) {
        trained.momentum.before = add_zeros("momentum.outer." + tensor.name, shape);
    }
    const bool sparse = is_sparse(local_, shape);
    const Shape sent = sparse ? Shape{block_count(shape, local_.block), 1} : shape;
    for (std::uint32_t i = 0; i < local_.count; ++i) {
        const std::string of = std::to_string(i) + "." + tensor.name;
        trained.sent.push_back({add_zeros("accumulated.sent." + of, sent), {}});
        if (sparse) {
            trained.places.push_back({add_zeros("accumulated.place." + of, sent), {}});
            trained.kept.push_back({add_zeros("accumulated.kept." + of, shape), {}});
        }
    }
    trained_.push_back(std::move(trained));
}

void Writer::declare_own(std::uint32_t index) {
    const StateTensor& tensor = base_.state[index];
    private_.push_back(index);
    for (std::uint32_t i = 1; i < local_.count; ++i) {
        own_[i][index] = add_state(name_of_own(tensor.name, i), tensor.type.shape, initial_[index]);
    }
}

Result<void, LocalError> Writer::declare() {
    out_.state = base_.state;
    const std::vector<StateTensor>& state = base_.state;
    for (std::uint32_t i = 0; i < state.size(); ++i) {
        next_[i] = GraphBuilder::state(i, state[i].type);
    }
    for (std::vector<Value>& own : own_) {
        own = next_;
    }
    std::vector<StateTensor> parameters;
    for (std::uint32_t i = 0; i < state.size(); ++i) {
        if (is_trained(i)) {
            parameters.push_back(state[i]);
        }
    }
    const std::vector<std::uint32_t> fragments = fragments_of(parameters, local_.fragments);
    for (std::uint32_t i = 0; i < state.size(); ++i) {
        if (!changes(i)) {
            continue;
        }
        if (state[i].type.dtype != canonical::DType::kF32) {
            return Unexpected{LocalError::kState};
        }
        is_trained(i) ? declare_trained(i, fragments[trained_.size()]) : declare_own(i);
    }
    if (is_streaming() && trained_.size() < local_.fragments) {
        return Unexpected{LocalError::kFragments};
    }
    std::set<std::string_view> names;
    const bool is_unique = std::all_of(out_.state.begin(), out_.state.end(), [&](const StateTensor& tensor) {
        return names.insert(tensor.name).second;
    });
    if (trained_.empty() || !is_unique) {
        return Unexpected{is_unique ? LocalError::kState : LocalError::kNames};
    }
    return {};
}

void Writer::write_init() {
    std::vector<Value> made;
    made.reserve(base_.init.size());
    const auto moved = [&](const Value& input) { return input.source == Source::kNode ? made[input.index] : input; };
    for (std::size_t i = 0; i + 1 < base_.init.size(); ++i) {
        Node node = base_.init[i];
        std::transform(node.inputs.begin(), node.inputs.end(), node.inputs.begin(), moved);
        made.push_back(init_.append(std::move(node)));
    }
    const std::vector<Value>& state = base_.init.back().inputs;
    std::transform(state.begin(), state.end(), std::back_inserter(initial_), moved);
}

Value Writer::count_own_steps(std::uint32_t divisor, std::uint32_t modulus) {
    const auto whole_part = [&](const Value& x, std::uint32_t y) {
        return step_.floor(step_.div(x, number(static_cast<float>(y))));
    };
    const Value count = divisor == 1 ? own_step_ : whole_part(own_step_, divisor);
    if (modulus == 0) {
        return count;
    }
    return step_.sub(count, step_.scale(whole_part(count, modulus), static_cast<float>(modulus)));
}

Value Writer::read(const Value& input) {
    if (input.source == Source::kNode) {
        return copied_[input.index];
    }
    Value own = own_[0][input.index];
    for (std::uint32_t i = 1; i < local_.count; ++i) {
        if (own_[i][input.index] != own_[0][input.index]) {
            own = step_.select(own_[i][input.index], in_turn_of(i), own);
        }
    }
    return own;
}

Value Writer::copy(Node node) {
    if (node.op == Op::kStepCount) {
        return count_own_steps(node.attributes[0], node.attributes[1]);
    }
    for (Value& input : node.inputs) {
        input = read(input);
    }
    return step_.append(std::move(node));
}

/// Each magnitude becomes the mean of its half, which is those below the mean of all, or the others. So 2 bits are
/// enough for a value that is not 0: its sign and its half.
Value in_five_levels(GraphBuilder& graph, const Value& values) {
    const Value magnitude = graph.abs(values);
    const Value low = graph.less(magnitude, graph.mean(magnitude));
    const Value high = graph.add_const(graph.scale(low, -1.0F), 1.0F);
    const auto level = [&](const Value& half) {
        const Value count = graph.max(graph.sum(half), graph.fill(kOne, 1.0F));
        return graph.mul(half, graph.div(graph.sum(graph.mul(magnitude, half)), count));
    };
    const Value low_level = level(low);
    const Value levels = graph.add(low_level, level(high));
    const Value zero = graph.fill(kOne, 0.0F);
    const Value signed_levels = graph.select(graph.scale(levels, -1.0F), graph.less(values, zero), levels);
    return graph.select(graph.fill(values.shape, 0.0F), graph.equal(values, zero), signed_levels);
}

// What the replica whose turn ends has changed is sent; the others' slots stay.
void Writer::write_sent(Trained& trained, const Value& updated) {
    const Shape shape = base_.state[trained.index].type.shape;
    Value change = step_.sub(trained.shared.before, updated);
    Selection sent;
    Value rest;
    Value places;
    if (is_sparse(local_, shape)) {
        Value kept = trained.kept[0].before;
        for (std::uint32_t i = 1; i < local_.count; ++i) {
            kept = step_.select(trained.kept[i].before, in_turn_of(i), kept);
        }
        change = step_.add(step_.scale(kept, local_.kept_share), change);
        sent = append_selection(step_, change, local_.block);
        sent.values = in_five_levels(step_, sent.values);
        rest = step_.sub(change, append_sum_of_sent(step_, std::span(&sent, 1), local_.block, shape));
        places = step_.to_float(sent.indices);
    } else if (local_.sent == SentForm::kWhole) {
        sent.values = change;
    } else {
        sent.values = in_bits(step_, change, local_.bits);
    }
    for (std::uint32_t i = 0; i < local_.count; ++i) {
        trained.sent[i].next = at_end_of_turn(trained, sent.values, i, trained.sent[i].before);
        if (!trained.places.empty()) {
            trained.places[i].next = at_end_of_turn(trained, places, i, trained.places[i].before);
            trained.kept[i].next = at_end_of_turn(trained, rest, i, trained.kept[i].before);
        }
    }
}

Value Writer::sum_of_sent(const Trained& trained) {
    if (trained.places.empty()) {
        Value sum = trained.sent[0].next;
        for (std::uint32_t i = 1; i < local_.count; ++i) {
            sum = step_.add(sum, trained.sent[i].next);
        }
        return sum;
    }
    std::vector<Selection> sent;
    for (std::uint32_t i = 0; i < local_.count; ++i) {
        sent.push_back({.values = trained.sent[i].next, .indices = step_.to_int(trained.places[i].next), .mask = {}});
    }
    return append_sum_of_sent(step_, sent, local_.block, base_.state[trained.index].type.shape);
}

// At the end of a turn a replica's own value moves towards what the exchange of the round before has made.
Value Writer::mixed(const Trained& trained, const Value& updated) {
    const Value towards = step_.mul(step_.sub(updated, trained.shared.before), mixed_share_);
    const Value arrived = is_round_of_[(trained.fragment + 1) % local_.fragments];
    return step_.select(step_.sub(updated, towards), step_.mul(is_last_, arrived), updated);
}

// A turn ends with what the next one begins with, which is the next replica's own.
void Writer::write_own(Trained& trained, const Value& updated) {
    const Value next = mixed(trained, updated);
    Value following = trained.own[0];
    for (std::uint32_t i = 0; i < local_.count; ++i) {
        const Value& own = trained.own[i];
        next_[own.index] = step_.select(next, step_.mul(is_last_, in_turn_of(i)), own);
        following = i == 0 ? following : step_.select(own, in_turn_of(i - 1), following);
    }
    next_[trained.index] = step_.select(following, is_last_, updated);
}

// The last turn of a round ends with the outer step; every turn ends with the shared value, unless replicas have their
// own parameters.
void Writer::write_outer(Trained& trained, const Value& updated) {
    const std::uint32_t last = local_.count - 1;
    Value change = step_.scale(sum_of_sent(trained), 1.0F / static_cast<float>(local_.count));
    if (local_.outer_momentum > 0.0F) {
        const Value momentum = step_.add(step_.scale(trained.momentum.before, local_.outer_momentum), change);
        trained.momentum.next = at_end_of_turn(trained, momentum, last, trained.momentum.before);
        next_[trained.momentum.before.index] = trained.momentum.next;
        change = step_.add(change, step_.scale(momentum, local_.outer_momentum));
    }
    const Value moved = step_.sub(trained.shared.before, step_.scale(change, local_.outer_rate));
    trained.shared.next = at_end_of_turn(trained, moved, last, trained.shared.before);
    next_[trained.shared.before.index] = trained.shared.next;
    if (is_streaming()) {
        write_own(trained, updated);
    } else {
        next_[trained.index] = step_.select(trained.shared.next, is_last_, updated);
    }
    for (const std::vector<Changing>* const slots : {&trained.sent, &trained.places, &trained.kept}) {
        for (const Changing& slot : *slots) {
            next_[slot.before.index] = slot.next;
        }
    }
}

void Writer::write_turn() {
    const std::uint32_t steps = local_.turn_steps;
    const Value place = step_.step_count(1, steps);
    const Value round = step_.step_count(steps * local_.count, 0);
    const Value turn = step_.step_count(steps, local_.count);
    own_step_ = step_.add(step_.scale(round, static_cast<float>(steps)), place);
    is_last_ = step_.equal(place, number(static_cast<float>(steps - 1)));
    for (std::uint32_t i = 0; i < local_.count; ++i) {
        is_turn_.push_back(step_.equal(turn, number(static_cast<float>(i))));
    }
    if (is_streaming()) {
        const Value exchanged = step_.step_count(steps * local_.count, local_.fragments);
        for (std::uint32_t i = 0; i < local_.fragments; ++i) {
            is_round_of_.push_back(step_.equal(exchanged, number(static_cast<float>(i))));
        }
        const float share = 1.0F - local_.mixing;
        mixed_share_ = step_.add_const(step_.scale(step_.equal(round, number(0.0F)), -share), share);
    }
    copied_.reserve(base_.step.size());
    for (std::size_t i = 0; i + 1 < base_.step.size(); ++i) {
        copied_.push_back(copy(base_.step[i]));
    }
    const std::vector<Value>& updated = base_.step.back().inputs;
    for (const std::uint32_t index : private_) {
        const Value next = read(updated[index]);
        for (std::uint32_t i = 0; i < local_.count; ++i) {
            next_[own_[i][index].index] = step_.select(next, in_turn_of(i), own_[i][index]);
        }
    }
    for (Trained& trained : trained_) {
        const Value next = read(updated[trained.index]);
        write_sent(trained, next);
        write_outer(trained, next);
    }
}

Result<Program, LocalError> Writer::write() {
    write_init();
    TRY(declare());
    write_turn();
    Value loss = copied_[base_.loss_node];
    out_.initial = base_.initial;
    out_.init = std::move(init_).commit(initial_);
    out_.step = std::move(step_).commit(next_, loss);
    out_.loss_node = loss.index;
    out_.batch_size = base_.batch_size;
    out_.dataset = base_.dataset;
    if (!check_program(out_)) {
        return Unexpected{LocalError::kLimits};
    }
    return std::move(out_);
}

}  // namespace

Result<void, LocalError> check_local_replicas(const LocalReplicas& local) {
    const auto fail = [](LocalError error) { return Result<void, LocalError>(Unexpected{error}); };
    const auto is_share = [](float x) { return x >= 0.0F && x < 1.0F; };
    if (local.count < 2 || local.count > kMaxReplicas || local.turn_steps == 0 ||
        std::uint64_t{local.count} * local.turn_steps > kMaxRound) {
        return fail(LocalError::kCount);
    }
    if (!std::isfinite(local.outer_rate) || local.outer_rate < 0.0F || !is_share(local.outer_momentum) ||
        !is_share(local.kept_share) || !is_share(local.mixing)) {
        return fail(LocalError::kRate);
    }
    if (local.bits < kMinBits || local.bits > kMaxBits) {
        return fail(LocalError::kBits);
    }
    if (local.fragments == 0 || std::uint64_t{local.fragments} * local.count * local.turn_steps > kMaxRound) {
        return fail(LocalError::kFragments);
    }
    return local.block >= 1 && local.block <= canonical::kMaxDimension ? Result<void, LocalError>{}
                                                                       : fail(LocalError::kBlock);
}

bool is_sparse(const LocalReplicas& local, Shape shape) {
    return local.sent == SentForm::kSparse && shape.element_count() <= kMaxCompressed;
}

std::vector<std::uint32_t> fragments_of(const std::vector<StateTensor>& parameters, std::uint32_t fragments) {
    std::vector<std::uint64_t> elements(fragments, 0);
    std::vector<std::uint32_t> out;
    for (const StateTensor& parameter : parameters) {
        const auto fewest = std::min_element(elements.begin(), elements.end());
        *fewest += parameter.type.shape.element_count();
        out.push_back(static_cast<std::uint32_t>(fewest - elements.begin()));
    }
    return out;
}

Result<Program, LocalError> with_local_replicas(const Program& program, const LocalReplicas& local) {
    TRY(check_local_replicas(local));
    return Writer(program, local).write();
}

}  // namespace assay::program
