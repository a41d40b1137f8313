// SPDX-License-Identifier: Apache-2.0
#include <tests/model/crowd.hpp>

#include <algorithm>

#include <contracts/state/dispute.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/accuser.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>

/// What members of a group that computes each step together tell each other, and make of it: who lies in its part of a
/// segment, who says two things, and who accuses whom of it, rightly and wrongly.
namespace assay::model {

using canonical::Source;
using contracts::TaskState;
using contracts::test::ToyReplay;
using dispute::Piece;

namespace {

constexpr std::uint32_t kSaysTwo = 300;  // Purposes of their own
constexpr std::uint32_t kTells = 301;
constexpr std::uint64_t kPieces = 3;

dispute::Claim claim_told(const Task& task, std::uint32_t segment) {
    dispute::Claim claim;
    claim.program = task.spec.program;
    claim.dataset_root = task.spec.dataset_root;
    claim.seed = task.spec.seed;
    claim.first_step = steps_before(task.spec, segment);
    claim.step_count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(task.spec.steps - claim.first_step, task.spec.checkpoint_interval)
    );
    claim.before = task.checkpoints.at(segment - 1);
    return claim;
}

/// A value that the two have differently: a piece of one value there.
struct Place {
    std::uint64_t step = 0;
    Piece piece;
    canonical::Shape shape;
};

void add_place(
    std::vector<Place>& out, std::uint64_t step, Source source, std::uint32_t index, const canonical::Tensor& one,
    const canonical::Tensor& other
) {
    const auto at = std::mismatch(one.data.begin(), one.data.end(), other.data.begin(), other.data.end()).first;
    if (at == one.data.end()) {
        return;
    }
    const std::size_t size = size_of(one.dtype);
    const auto element = static_cast<std::uint32_t>(static_cast<std::size_t>(at - one.data.begin()) / size);
    Piece piece;
    piece.source = source;
    piece.index = index;
    piece.row = element / one.shape.cols;
    piece.col = element % one.shape.cols;
    piece.rows = piece.cols = 1;
    piece.width = static_cast<std::uint8_t>(size);
    out.push_back({step, piece, one.shape});
}

std::vector<Place> differences(const dispute::Claim& claim, dispute::Replay& one, dispute::Replay& other) {
    std::vector<Place> out;
    for (std::uint64_t step = claim.first_step; step < claim.first_step + claim.step_count && out.size() < 8; ++step) {
        for (std::uint32_t i = 0; i < claim.program.state_tensors; ++i) {
            add_place(out, step, Source::kState, i, one.state_tensor(step, i), other.state_tensor(step, i));
        }
        for (std::uint32_t i = 0; i + 1 < claim.program.step_nodes; ++i) {
            add_place(out, step, Source::kNode, i, one.node_output(step, i), other.node_output(step, i));
        }
    }
    return out;
}

Place place_at_start(const dispute::Claim& claim, dispute::Replay& replay) {
    const canonical::Tensor& tensor = replay.state_tensor(claim.first_step, 0);
    Piece piece;
    piece.source = Source::kState;
    piece.rows = piece.cols = 1;
    piece.width = static_cast<std::uint8_t>(size_of(tensor.dtype));
    return {claim.first_step, piece, tensor.shape};
}

/// A way to run the segment wrongly.
Way lie_in(const dispute::Claim& claim) {
    for (const auto& [step, way] :
         {std::pair{1U, Way::kLieInCommit}, std::pair{4U, Way::kLieInStep}, std::pair{8U, Way::kLieLate}}) {
        if (step >= claim.first_step && step < claim.first_step + claim.step_count) {
            return way;
        }
    }
    return Way::kTruth;
}

/// A tile that nobody has computed, and a trace root that fits it: the game decides.
void invent_trace(dispute::OutputEvidence& evidence, const Piece& piece, std::uint32_t entries) {
    evidence.opening.tile.data[std::size_t{piece.width} * (piece.row % 32U * 32U + piece.col % 32U)] ^= 1U;
    const std::uint64_t tile = dispute::tile_of(evidence.type.shape, piece);
    const auto root = merkle::root_from_path(
        dispute::tile_leaf(evidence.opening.tile), tile, canonical::tile_count(evidence.type.shape),
        evidence.opening.tile_path
    );
    const Hash256 tensor = dispute::tensor_commitment(evidence.type, root.value());
    evidence.trace_root =
        merkle::root_from_path(tensor, piece.index, entries, evidence.opening.source_path).value_or(Hash256{});
}

}  // namespace

const Crowd::Actor& Crowd::any_member(const Task& task) {
    const std::uint64_t number = below(task.team->bonds.size() + 1);
    return actor_of(
        number == 0 ? *task.solver : std::next(task.team->bonds.begin(), static_cast<std::ptrdiff_t>(number - 1))->first
    );
}

const Crowd::Actor& Crowd::actor_of(const AccountId& account) const {
    return *std::find_if(actors_.begin(), actors_.end(), [&](const Actor& each) { return each.id == account; });
}

Crowd::Told Crowd::tell(
    const Actor& author, const dispute::Claim& claim, const TaskId& id, std::uint64_t step, const Piece& piece
) {
    std::vector<Hash256> leaves(1 + below(kPieces), crypto::sha256(as_bytes("another piece")));
    const auto index = static_cast<std::uint32_t>(below(leaves.size()));
    leaves[index] = dispute::piece_leaf(piece);
    const merkle::Tree tree(leaves);
    Told out;
    out.stated.statement = {
        .task = Hash256{id.data},
        .before = claim.before,
        .session = crypto::sha256(as_bytes("session")),
        .step = step,
        .pieces = static_cast<std::uint32_t>(leaves.size()),
        .root = tree.root()};
    out.stated.piece = piece;
    out.stated.index = index;
    out.stated.path = tree.path(index);
    out.signature = author.key.sign(dispute::statement_digest(kChainId, out.stated.statement).view());
    return out;
}

std::optional<contracts::Accuse> Crowd::make_accusation(
    const Actor& actor, const TaskId& id, const Task& task, std::uint32_t segment,
    const std::optional<DisputeId>& answers
) {
    if (!task.team || !task.team->together || is_of_diverging(task, shop_) || segment == 0 ||
        segment > task.checkpoints.size() || !shop_.knows(task.checkpoints[segment - 1])) {
        return std::nullopt;
    }
    const Actor& author = any_member(task);
    const dispute::Claim claim = claim_told(task, segment);
    const Hash256 name{id.data};
    const bool is_told_wrong = fixed(name, author.id, kTells, 100) < 45;
    const Way told = is_told_wrong ? lie_in(claim) : Way::kTruth;
    Way claimed = Way::kTruth;
    if (told == Way::kTruth && chance(answers ? 40 : 12)) {
        claimed = lie_in(claim);  // there is nothing to accuse it of
    }
    const bool is_of_start = chance(10);  // of the state that the segment begins with (STM-5)
    if ((claimed == told && !is_of_start) || (author.id == actor.id && !chance(5))) {
        return std::nullopt;
    }
    const State& before = shop_.state(claim.before);
    if (before.size() != claim.program.state_tensors) {
        return std::nullopt;  // somebody posted a state of another program
    }
    ToyReplay theirs(shop_.run(told), claim, before);
    ToyReplay ours(shop_.run(claimed), claim, before);
    std::vector<Place> places = differences(claim, theirs, ours);
    if (is_of_start) {
        places = {place_at_start(claim, ours)};
    }
    if (places.empty()) {
        return std::nullopt;
    }
    const Place place = places[chance(60) ? 0 : below(places.size())];
    Piece piece = place.piece;
    piece.rows = static_cast<std::uint8_t>(1 + below(std::min(32 - piece.row % 32, place.shape.rows - piece.row)));
    if (piece.source == Source::kNode && canonical::has_parts(ours.graph()[piece.index].op) && chance(40)) {
        piece.part = canonical::PartRange::consecutive(0, 1);
        piece.width = static_cast<std::uint8_t>(4 + below(5));
        piece.rows = 1;
    }
    const auto values = dispute::own_values(claim, place.step, piece, theirs);
    if (!values) {
        return std::nullopt;
    }
    piece.values = is_of_start ? crypto::sha256(as_bytes("not what was posted")) : *values;
    const Told stated = tell(author, claim, id, place.step, piece);
    contracts::Accuse out{
        id, author.id, stated.signature, dispute::make_contradiction(claim, stated.stated, ours), answers};
    if (chance(12)) {
        spoil_accusation(out, task);
    }
    accused_by_[contracts::accusation_id(id, segment, author.id, actor.id, answers)] = claimed;
    return out;
}

/// Some of it the chain refuses, and some it leaves to the game.
void Crowd::spoil_accusation(contracts::Accuse& action, const Task& task) {
    dispute::Contradiction& evidence = action.contradiction;
    auto* output = std::get_if<dispute::OutputEvidence>(&evidence.evidence);
    switch (below(10)) {
        case 0:
            action.member = actors_[below(actors_.size())].id;
            break;
        case 1:
            evidence.stated.statement.session = {};
            break;
        case 2:
            evidence.stated.piece.values = {};
            break;
        case 3:
            evidence.evidence = dispute::StateEvidence{};
            break;
        case 4:
            action.answers.reset();
            break;
        case 5:
            evidence.stated.path.emplace_back();
            break;
        case 6:
            evidence.state_root = {};  // of an output the game finds out
            break;
        default:
            if (output != nullptr) {
                invent_trace(*output, evidence.stated.piece, task.spec.program.step_nodes);
            }
            break;
    }
}

void Crowd::add_report(const Actor& actor, const Actor& author, const TaskId& id, const Task& task, Actions& out) {
    const auto segment = static_cast<std::uint32_t>(task.checkpoints.size());
    const std::uint64_t step = steps_before(task.spec, segment);
    if (!shop_.knows(task.checkpoints.back()) || step >= task.spec.steps) {
        return;
    }
    const dispute::Claim claim = claim_told(task, segment);
    ToyReplay replay(shop_.run(Way::kTruth), claim, shop_.state(claim.before));
    Piece piece;
    piece.rows = piece.cols = 1;
    piece.width = static_cast<std::uint8_t>(size_of(replay.node_output(step, 0).dtype));
    piece.values = dispute::own_values(claim, step, piece, replay).value();
    const Told one = tell(author, claim, id, step, piece);
    Told other = one;
    dispute::Statement& statement = other.stated.statement;
    other.stated.piece.values = crypto::sha256(as_bytes("something else"));
    const std::uint64_t way = below(20);
    if (way == 0) {
        statement.session = {};
    } else if (way == 1) {
        other.stated.piece.values = one.stated.piece.values;
    } else if (way == 2) {
        statement.step += 1;
    } else if (way == 3) {
        statement.task = {};
    }
    other.stated.index = 0;
    other.stated.path.clear();
    statement.pieces = 1;
    statement.root = dispute::piece_leaf(other.stated.piece);
    const Actor& signer = way == 4 ? actor : author;
    other.signature = signer.key.sign(dispute::statement_digest(kChainId, statement).view());
    out.push_back(contracts::ReportEquivocation{id, author.id, one.stated, one.signature, other.stated, other.signature}
    );
}

void Crowd::add_tellings(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    const bool is_on = task.state >= TaskState::kTraining && task.state <= TaskState::kDisclosure;
    if (!is_on || !task.team || !task.team->together || task.checkpoints.empty() ||
        (!is_in_team(task, actor.id) && !chance(2))) {
        return;
    }
    if (chance(task.state == TaskState::kTraining ? 60 : 2)) {
        const auto segment = static_cast<std::uint32_t>(1 + below(task.checkpoints.size()));
        if (const auto action = make_accusation(actor, id, task, segment, std::nullopt)) {
            out.push_back(*action);
        }
    }
    const Actor& author = any_member(task);
    if (fixed(Hash256{id.data}, author.id, kSaysTwo, 3) == 0 && chance(25)) {
        add_report(actor, author, id, task, out);
    }
}

}  // namespace assay::model
