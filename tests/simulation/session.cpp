// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/session.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <core/canonical/executor.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/plan/message.hpp>

namespace assay::simulation {

using canonical::Input;
using canonical::Source;
using canonical::Tensor;
using group::Told;

namespace {

constexpr std::uint64_t kAgainMs = 400;  ///< until a message that has not come is sent again
constexpr int kTriesMax = 60;            ///< of a message to who does not hear it
constexpr std::uint64_t kWatchMs = 500;
constexpr std::uint64_t kPatienceMs = 20'000;  ///< how long a rank waits for a message
constexpr std::uint32_t kWrongPercent = 60;    ///< of the sessions of who does something wrong

/// One bit of one value, which stays finite.
Tensor altered(Events& events, Tensor tensor) {
    const std::size_t values = tensor.data.size() / 4;
    tensor.data.at(4 * events.below(values) + 2) ^= 0x10U;
    return tensor;
}

}  // namespace

Session::Session(
    Events& events, Company& company, const model::ToyRun& program, SessionTerms terms, std::vector<Fellow*> members
)
    : events_(events), company_(company), program_(program), graph_(program.graph(false)), terms_(std::move(terms)) {
    // STM-3: the session begins with a random number from each member.
    session_ = terms_.before;
    for (Fellow* member : members) {
        session_ = model::mix(session_, member->account(), events_.below(~std::uint64_t{0}));
        ranks_.push_back({.fellow = member, .step = terms_.first_step, .since_ms = events_.now()});
    }
    divide();
    plan_wrongs();
}

bool Session::has(const AccountId& account) const {
    return std::any_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
        return rank.fellow->account() == account;
    });
}

/// Gives each node to a rank at random. Who equivocates may wait for a division that suits it.
void Session::divide() {
    const std::size_t size = ranks_.size();
    const std::size_t first = events_.below(size);
    divide(first, 1);
    for (std::size_t rank = 1; rank < size; ++rank) {
        if (ranks_[rank].fellow->wrong() != Wrong::kEquivocates || !events_.chance(50)) {
            continue;
        }
        for (std::size_t i = 1; i < 2 * size && hidden_from_lead(rank).empty(); ++i) {
            divide((first + i) % size, i < size ? 1 : size - 1);
        }
    }
}

/// What the rank tells several others, and not the lead.
std::vector<Session::Place> Session::hidden_from_lead(std::size_t rank) const {
    std::vector<Place> out;
    for (const auto& [place, readers] : readers_) {
        if (author(place) == rank && readers.size() > 1 && !readers.contains(0)) {
            out.push_back(place);
        }
    }
    return out;
}

/// Gives each node to a rank, the next one to that rank and `stride`, and finds out who reads what.
void Session::divide(std::size_t shift, std::size_t stride) {
    const std::size_t nodes = graph_.size() - 1;  // without kCommit
    owners_.assign(nodes, 0);
    readers_.clear();
    for (std::size_t node = 0; node < nodes; ++node) {
        owners_[node] = (node * stride + shift) % ranks_.size();
    }
    for (std::size_t node = nodes; node-- > 0;) {
        for (const Input& input : graph_[node].inputs) {
            // What depends on nothing is computed by who reads it.
            if (input.source == Source::kNode && graph_[input.index].inputs.empty()) {
                owners_[input.index] = owners_[node];
            }
        }
    }
    const std::uint64_t end = terms_.first_step + terms_.steps;
    for (std::uint64_t step = terms_.first_step; step < end; ++step) {
        for (std::size_t node = 0; node < nodes; ++node) {
            for (const Input& input : graph_[node].inputs) {
                readers_[origin(step, input)].insert(owners_[node]);
            }
        }
    }
    for (std::uint32_t tensor = 0; tensor < terms_.state.size(); ++tensor) {
        readers_[origin_of_state(end, tensor)].insert(0);
    }
    for (auto& [place, readers] : readers_) {
        readers.erase(author(place));
    }
}

void Session::plan_wrongs() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        const Wrong wrong = rank.fellow->wrong();
        const auto hidden = wrong == Wrong::kEquivocates && i != 0 ? hidden_from_lead(i) : std::vector<Place>();
        if (wrong == Wrong::kNothing || (hidden.empty() && !events_.chance(kWrongPercent))) {
            continue;
        }
        if (!hidden.empty()) {
            rank.lies_at = hidden[events_.below(hidden.size())];  // the lead is told neither value
            continue;
        }
        if (wrong == Wrong::kDeserts) {
            rank.stops_at = terms_.first_step + events_.below(terms_.steps);
            continue;
        }
        const std::size_t least = wrong == Wrong::kEquivocates ? 2 : 1;
        std::vector<Place> places;
        for (const auto& [place, readers] : readers_) {
            if (author(place) == i && readers.size() >= least) {
                places.push_back(place);
            }
        }
        if (!places.empty() && wrong != Wrong::kSlanders) {
            rank.lies_at = places[events_.below(places.size())];
        }
    }
}

Session::Place Session::origin(std::uint64_t step, const Input& input) const {
    return input.source == Source::kNode ? Place{step, Source::kNode, input.index} : origin_of_state(step, input.index);
}

Session::Place Session::origin_of_state(std::uint64_t step, std::uint32_t tensor) const {
    while (step != terms_.first_step) {
        const Input& left = graph_.back().inputs.at(tensor);
        --step;
        if (left.source == Source::kNode) {
            return {step, Source::kNode, left.index};
        }
        tensor = left.index;
    }
    return {step, Source::kState, tensor};
}

std::size_t Session::author(const Place& place) const {
    return place.source == Source::kState ? 0 : owners_.at(place.index);
}

std::optional<Session::Place> Session::lacking(std::size_t rank, std::uint64_t step, std::uint32_t node) const {
    for (const Input& input : graph_[node].inputs) {
        const Place place = origin(step, input);
        if (!ranks_[rank].has.contains(place)) {
            return place;
        }
    }
    return std::nullopt;
}

std::optional<Session::Place> Session::awaited(std::size_t rank) const {
    const Rank& own = ranks_[rank];
    const std::uint64_t end = terms_.first_step + terms_.steps;
    if (own.step < end) {
        return lacking(rank, own.step, own.node);
    }
    for (std::uint32_t tensor = 0; rank == 0 && tensor < terms_.state.size(); ++tensor) {
        const Place place = origin_of_state(end, tensor);
        if (!own.has.contains(place)) {
            return place;
        }
    }
    return std::nullopt;
}

void Session::begin() {
    ++company_.counts["sessions of members"];
    for (std::uint32_t tensor = 0; tensor < terms_.state.size(); ++tensor) {
        const Place place{terms_.first_step, Source::kState, tensor};
        ranks_[0].has[place] = terms_.state[tensor];
        tell_all(0, place);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        advance(rank);
    }
    watch();
}

/// Computes as far as what it was told goes.
void Session::advance(std::size_t rank) {
    Rank& own = ranks_[rank];
    const std::uint64_t end = terms_.first_step + terms_.steps;
    while (own.step < end && !own.has_left) {
        if (own.node + 1 >= graph_.size()) {
            own.node = 0;
            ++own.step;
            continue;
        }
        if (owners_[own.node] == rank) {
            if (own.stops_at == own.step) {
                own.stops_at.reset();
                own.is_silent = true;
                if (events_.chance(50)) {
                    leave(rank);
                }
            }
            if (lacking(rank, own.step, own.node)) {
                return;
            }
            compute(own);
            tell_all(rank, {own.step, Source::kNode, own.node});
        }
        ++own.node;
    }
    if (!own.is_done && !own.has_left && !awaited(rank)) {
        finish(rank);
    }
}

void Session::compute(Rank& rank) {
    const canonical::Node& node = graph_[rank.node];
    std::vector<const Tensor*> inputs;
    for (const Input& input : node.inputs) {
        inputs.push_back(&rank.has.at(origin(rank.step, input)));
    }
    const canonical::StepContext context{model::ToyRun::kSeed, rank.step, program_.rows().shape()};
    rank.has[{rank.step, Source::kNode, rank.node}] = canonical::execute_node(node, context, program_.rows(), inputs);
    rank.since_ms = events_.now();
}

void Session::tell_all(std::size_t from, const Place& place) {
    const auto readers = readers_.find(place);
    if (readers == readers_.end()) {
        return;
    }
    const Rank& rank = ranks_[from];
    for (const std::size_t to : readers->second) {
        const bool is_for_all = rank.fellow->wrong() == Wrong::kMisstates;
        const bool is_lied_to = is_for_all || to == *readers->second.rbegin();
        tell(from, to, place, rank.lies_at == place && is_lied_to);
    }
}

void Session::tell(std::size_t from, std::size_t to, const Place& place, bool is_altered) {
    const Tensor& computed = ranks_[from].has.at(place);
    Tensor values = is_altered ? altered(events_, computed) : computed;
    const auto told = state_it(from, place, values);
    const auto arrive = [this, to, place, values, told, is_altered] {
        if (is_altered) {
            company_.liars[{terms_.task, terms_.segment}].insert(ranks_[told->author].fellow->account());
        }
        take(to, place, values, told);
    };
    post(from, to, arrive);
}

std::shared_ptr<const Told> Session::state_it(std::size_t author, const Place& place, const Tensor& values) {
    auto& message = messages_[{0, place.source, place.index}];
    if (message == nullptr) {
        const plan::Passage passage{
            .source = place.source,
            .index = place.index,
            .block = plan::whole(values.shape),
            .width = static_cast<std::uint32_t>(size_of(values.dtype)),
            .positions = {},
            .hop = 0};
        message = std::make_shared<const plan::MessagePieces>(
            plan::pieces_of(std::array<plan::Passage, 1>{passage}, graph_).value()
        );
    }
    auto told = std::make_shared<Told>();
    told->author = static_cast<std::uint32_t>(author);
    told->message = message;
    std::vector<Hash256> leaves;
    for (const plan::MessagePiece& piece : message->pieces) {
        told->values.push_back(dispute::values_hash(plan::values_of(piece, values.data)));
        leaves.push_back(dispute::piece_leaf(told->piece(leaves.size())));
    }
    told->statement = {
        .task = Hash256{terms_.task.data},
        .before = terms_.before,
        .session = session_,
        .step = place.step,
        .pieces = static_cast<std::uint32_t>(leaves.size()),
        .root = merkle::root_of(leaves)};
    told->signature = ranks_[author].fellow->sign(dispute::statement_digest(terms_.chain_id, told->statement));
    return told;
}

void Session::take(
    std::size_t rank, const Place& place, const Tensor& values, const std::shared_ptr<const Told>& told
) {
    Rank& own = ranks_[rank];
    own.has[place] = values;
    own.heard.push_back(told);
    own.fellow->hear(terms_.task, terms_.first_step, told);
    own.since_ms = events_.now();
    advance(rank);
}

// --- links ---------------------------------------------------------------------------------------------------

void Session::post(std::size_t from, std::size_t to, std::function<void()> arrive) {
    send_again(from, to, ++sent_, arrive, 0);
}

void Session::send_again(
    std::size_t from, std::size_t to, std::uint64_t message, const std::function<void()>& arrive, int tries
) {
    const Rank& sender = ranks_[from];
    if (is_over_ || sender.is_silent || sender.has_left || !sender.fellow->is_there() || tries == kTriesMax ||
        arrived_.contains(message)) {
        return;
    }
    const int places[] = {sender.fellow->network_place(), ranks_[to].fellow->network_place()};
    const auto self = shared_from_this();
    events_.send(places[0], places[1], [self, to, message, arrive] {
        const Rank& receiver = self->ranks_[to];
        const bool hears = !self->is_over_ && !receiver.has_left && receiver.fellow->is_there();
        if (hears && self->arrived_.insert(message).second) {
            arrive();
        }
    });
    events_.after(kAgainMs, [self, from, to, message, arrive, tries] {
        self->send_again(from, to, message, arrive, tries + 1);
    });
}

/// Who is down is gone, and so is who has waited for too long.
void Session::watch() {
    for (std::size_t rank = 0; rank < ranks_.size() && !is_over_ && phase_ == Phase::kRuns; ++rank) {
        const Rank& own = ranks_[rank];
        if (own.has_left) {
            continue;
        }
        const bool is_down = !own.fellow->is_there();
        if (rank != 0 && is_down) {
            leave(rank);
        } else if (is_down) {
            end(Phase::kBroken, std::nullopt);
        } else if (events_.now() - own.since_ms > kPatienceMs && rank != 0 && !own.is_done) {
            leave(rank);
        } else if (events_.now() - own.since_ms > kPatienceMs && rank == 0) {
            std::size_t late = 1;
            if (const auto place = awaited(0)) {
                late = author(*place);
            } else {
                while (late + 1 < ranks_.size() && own.shown.contains(late) && own.has_evidence_of.contains(late)) {
                    ++late;
                }
            }
            end(Phase::kBroken, ranks_[late].fellow->account());
        }
    }
    if (!is_over_ && phase_ == Phase::kRuns) {
        events_.after(kWatchMs, [self = shared_from_this()] { self->watch(); });
    }
}

/// The lead sees that the link has ended, unless it is cut off.
void Session::leave(std::size_t rank) {
    ranks_[rank].has_left = true;
    const auto self = shared_from_this();
    events_.send(ranks_[rank].fellow->network_place(), ranks_[0].fellow->network_place(), [self, rank] {
        if (self->phase_ == Phase::kRuns && !self->is_over_) {
            self->end(Phase::kBroken, self->ranks_[rank].fellow->account());
        }
    });
}

void Session::end(Phase phase, const std::optional<AccountId>& blamed) {
    phase_ = phase;
    blamed_ = blamed;
    is_over_ = phase == Phase::kBroken;
}

model::State Session::result() const {
    model::State out;
    for (std::uint32_t tensor = 0; tensor < terms_.state.size(); ++tensor) {
        out.push_back(ranks_[0].has.at(origin_of_state(terms_.first_step + terms_.steps, tensor)));
    }
    return out;
}

}  // namespace assay::simulation
