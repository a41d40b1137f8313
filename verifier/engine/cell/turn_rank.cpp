// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/turn_rank.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/engine/cell/orders.hpp>
#include <verifier/engine/cell/packing.hpp>

namespace assay::engine::cell {

using canonical::StepContext;
using canonical::Tensor;
using plan::PartialGraph;
using plan::Turns;

namespace {

constexpr std::size_t kSizeBytes = 8;

Turns turns_of(const program::Program& program) {
    auto turns = plan::find_turns(program);
    if (!turns) {
        throw std::runtime_error("the program has no replicas that take turns");
    }
    return *std::move(turns);
}

}  // namespace

TurnRank::TurnRank(
    const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, Collective& collective,
    const EngineOptions& options
)
    : program_(program),
      rows_(std::move(rows)),
      collective_(collective),
      options_(options),
      turns_(turns_of(program)),
      kinds_(program.step),
      held_(program.state.size()) {}

std::optional<std::uint32_t> TurnRank::owner_of(std::size_t tensor) const {
    for (std::uint32_t replica = 0; replica < turns_.replicas; ++replica) {
        const auto& own = turns_.own[replica];
        if (std::binary_search(own.begin(), own.end(), static_cast<std::uint32_t>(tensor))) {
            return replica;
        }
    }
    return std::nullopt;
}

bool TurnRank::has(std::size_t tensor) const {
    const auto owner = owner_of(tensor);
    return !owner || rank_of(*owner) == collective_.rank();
}

std::uint64_t TurnRank::state_bytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < program_.state.size(); ++i) {
        const canonical::TensorType& type = program_.state[i].type;
        bytes += has(i) ? type.shape.element_count() * canonical::size_of(type.dtype) : 0;
    }
    return bytes;
}

void TurnRank::set_tensor(std::size_t index, Tensor tensor) {
    unload();
    before_.clear();
    held_[index] = std::move(tensor);
}

Tensor TurnRank::tensor(std::size_t index, std::uint32_t turns_begun) {
    const auto owner = owner_of(index);
    const auto kept = owner ? before_.find(*owner) : before_.end();
    if (kept != before_.end() && *owner >= turns_begun) {
        return kept->second.at(index);
    }
    if (loaded_ != nullptr) {
        const auto& tensors = loaded_->graph.tensors;
        const auto at = std::lower_bound(tensors.begin(), tensors.end(), static_cast<std::uint32_t>(index));
        if (at != tensors.end() && *at == index) {
            return loaded_->engine->tensor(static_cast<std::size_t>(at - tensors.begin()));
        }
    }
    ASSERT(held_[index].has_value());
    return *held_[index];
}

std::optional<std::uint32_t> TurnRank::own_turn_from(std::uint32_t first) const {
    const std::uint32_t end = std::min(first + collective_.size(), turns_.replicas);
    for (std::uint32_t replica = first; replica < end; ++replica) {
        if (rank_of(replica) == collective_.rank()) {
            return replica;
        }
    }
    return std::nullopt;
}

TurnRank::Part TurnRank::make_part(PartialGraph graph, bool has_loss) const {
    Part part;
    part.engine = std::make_unique<Engine>(graph.graph, rows_, options_);
    if (has_loss) {
        part.engine->keep(graph.loss_node);
    }
    part.graph = std::move(graph);
    return part;
}

TurnRank::Part& TurnRank::part_of(std::uint32_t replica, std::optional<std::uint32_t> last_of) {
    const std::pair key(replica, last_of);
    const auto known = parts_.find(key);
    if (known != parts_.end()) {
        return known->second;
    }
    return parts_.emplace(key, make_part(plan::turn_graph(program_, turns_, replica, last_of), true)).first->second;
}

void TurnRank::unload() {
    if (loaded_ == nullptr) {
        return;
    }
    std::vector<Tensor> state = loaded_->engine->take_state();
    for (std::size_t i = 0; i < state.size(); ++i) {
        held_[loaded_->graph.tensors[i]] = std::move(state[i]);
    }
    loaded_ = nullptr;
}

void TurnRank::load(Part& part) {
    if (loaded_ == &part) {
        return;
    }
    unload();
    part.engine->set_state(part.graph.tensors.size(), [&](std::size_t i) {
        std::optional<Tensor>& held = held_[part.graph.tensors[i]];
        ASSERT(held.has_value());
        return std::exchange(held, std::nullopt).value();
    });
    loaded_ = &part;
}

// The turn before has left something else in the worked tensors.
void TurnRank::begin_turn(std::uint32_t replica) {
    unload();
    Tensors& before = before_[replica];
    for (const std::uint32_t tensor : turns_.own[replica]) {
        before.emplace(tensor, held_[tensor].value());
    }
    for (const auto& [worked, source] : turns_.worked[replica]) {
        held_[worked] = held_[source].value();
    }
}

Result<void, canonical::StepError> TurnRank::run(Part& part, const StepContext& context) {
    Pace* const pace = options_.pace.get();
    if (pace != nullptr) {
        pace->begin();
        for (const canonical::Node& node : part.graph.graph) {
            pace->computed(node, 1.0);
        }
    }
    auto result = part.engine->run_step(context);
    if (pace != nullptr) {
        pace->end();
    }
    return result;
}

TurnStep TurnRank::run_step(std::uint32_t replica, const StepContext& context) {
    if (turns_.begins_turn(context.step)) {
        begin_turn(replica);
    }
    const bool is_last = turns_.ends_turn(context.step);
    const std::uint32_t place = turns_.place_of(context.step);
    const std::uint64_t first = place * turns_.round_steps() + std::uint64_t{replica} * turns_.steps;
    if (kinds_.kind_of(context.step) != kinds_.kind_of(is_last ? first + turns_.steps - 1 : first)) {
        throw std::runtime_error("a step of the program is of another kind than those of its turn");
    }
    if (is_last && replica + 1 == turns_.replicas) {
        unload();
        for (const std::uint32_t tensor : turns_.own[replica]) {
            before_last_.insert_or_assign(tensor, held_[tensor].value());
        }
    }
    Part& part = part_of(replica, is_last ? std::optional(place) : std::nullopt);
    load(part);
    if (!run(part, context)) {
        return {.diverged = true, .loss = 0.0F};
    }
    return {.diverged = false, .loss = part.engine->scalar(part.graph.loss_node)};
}

void TurnRank::exchange_sent(std::uint32_t place) {
    const auto& sent = turns_.sent[place];
    Bytes own;
    for (std::uint32_t replica = 0; replica < turns_.replicas; ++replica) {
        if (rank_of(replica) == collective_.rank()) {
            for (const std::uint32_t tensor : sent[replica]) {
                const Bytes packed = pack(held_[tensor].value());
                own.insert(own.end(), packed.begin(), packed.end());
            }
        }
    }
    const std::uint32_t ranks = collective_.size();
    const auto to_others = [&](const Bytes& message) {
        std::vector<Bytes> to(ranks, message);
        to[collective_.rank()].clear();
        return to;
    };
    // Both leave together: the second need not wait for others' sizes.
    post(collective_, to_others(codec::encode(std::uint64_t{own.size()})));
    post(collective_, to_others(own));
    std::vector<std::uint64_t> expected(ranks, kSizeBytes);
    expected[collective_.rank()] = 0;
    const auto sizes = collective_.exchange(std::vector<Bytes>(ranks), expected, kSessionTag);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        expected[rank] = rank == collective_.rank() ? 0 : codec::decode<std::uint64_t>(sizes[rank]).value_or(0);
    }
    const auto received = exchange(collective_, std::vector<Bytes>(ranks), expected);
    std::vector<ByteView> left(received.begin(), received.end());
    for (std::uint32_t replica = 0; replica < turns_.replicas; ++replica) {
        const std::uint32_t rank = rank_of(replica);
        if (rank == collective_.rank()) {
            continue;
        }
        for (const std::uint32_t tensor : sent[replica]) {
            auto unpacked = unpack(left[rank], program_.state[tensor].type);
            if (!unpacked) {
                throw std::runtime_error("a rank of the cell sent what is no tensor");
            }
            held_[tensor] = *std::move(unpacked);
        }
    }
}

Result<void, canonical::StepError> TurnRank::end_round(const StepContext& context) {
    unload();
    const std::uint32_t place = turns_.place_of(context.step);
    exchange_sent(place);
    auto end = ends_.find(place);
    if (end == ends_.end()) {
        end = ends_.emplace(place, make_part(plan::end_graph(program_, turns_, place), false)).first;
    }
    load(end->second);
    const auto result = run(end->second, context);
    unload();
    for (std::uint32_t replica = 0; replica < turns_.replicas; ++replica) {
        for (const std::uint32_t tensor : turns_.sent[place][replica]) {
            if (rank_of(replica) != collective_.rank()) {
                held_[tensor].reset();
            }
        }
    }
    if (result) {
        before_.clear();
    } else {
        for (auto& [tensor, value] : before_last_) {
            held_[tensor] = std::move(value);
        }
    }
    before_last_.clear();
    return result;
}

}  // namespace assay::engine::cell
