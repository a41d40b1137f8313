// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>

#include <contracts/state/dispute.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>
#include <tests/model/crowd.hpp>

/// What members of a group that computes each step together have stated to each other, and how they answer for it (STM
/// rules). Evidence about parts is taken from the code, since the program here has nothing that is summed in parts.
namespace assay::model {

using contracts::DisputeState;
using contracts::Reason;
using contracts::TaskState;
using contracts::TxError;

namespace {

using canonical::Source;
using dispute::Piece;

constexpr std::uint32_t kTile = 32;

/// NUM-41: some partials, each with a number of 32 bits, in the one form that these have.
bool is_part(const canonical::PartRange& part) {
    if (part.count == 0 || part.run == 0) {
        return false;
    }
    if (part.count <= part.run) {
        return part.count == part.run && part.period == 0 && std::uint64_t{part.first} + part.count <= 1ULL << 32U;
    }
    const std::uint64_t whole_runs = (part.count - 1) / part.run;
    const std::uint64_t last = part.first + whole_runs * part.period + (part.count - 1) % part.run;
    return part.run < part.period && last < 1ULL << 32U;
}

/// STM-1
bool is_piece(const Piece& piece) {
    const bool is_rectangle = piece.rows != 0 && piece.cols != 0 && piece.row % kTile + piece.rows <= kTile &&
                              piece.col % kTile + piece.cols <= kTile;
    const bool is_whole = !piece.part || (piece.source == Source::kNode && is_part(*piece.part));
    return is_rectangle && is_whole && piece.width >= 1 && piece.width <= 8;
}

/// STM-2
bool is_stated(const dispute::StatedPiece& stated) {
    static const crypto::TaggedHash kTag("assay/piece");
    const auto root =
        merkle::root_from_path(kTag(codec::encode(stated.piece)), stated.index, stated.statement.pieces, stated.path);
    return is_piece(stated.piece) && root == stated.statement.root;
}

bool is_signed(const AccountId& member, const dispute::Statement& statement, const Signature& signature) {
    static const crypto::TaggedHash kTag("assay/statement");
    const Hash256 digest = kTag(codec::encode(std::string(Crowd::kChainId)), codec::encode(statement));
    return crypto::verify_signature(member, digest.view(), signature);
}

/// STM-1: the hash of the piece's values in its tile.
Hash256 hash_in(const Piece& piece, const canonical::Tile& tile) {
    static const crypto::TaggedHash kTag("assay/values");
    Bytes values;
    for (std::uint32_t r = 0; r < piece.rows; ++r) {
        for (std::uint32_t c = 0; c < piece.cols; ++c) {
            const std::size_t place = (piece.row % kTile + r) * kTile + piece.col % kTile + c;
            for (std::size_t byte = 0; byte < piece.width; ++byte) {
                values.push_back(tile.data.at(place * piece.width + byte));
            }
        }
    }
    return kTag(values);
}

/// The commitment of the tensor whose tile is shown, if that has the piece, with other values than were stated.
std::optional<Hash256> contradicted(
    const Piece& piece, const canonical::TensorType& type, const dispute::TileOpening& opening
) {
    const std::uint64_t across = (type.shape.cols + kTile - 1) / kTile;
    const std::uint64_t tile = piece.row / kTile * across + piece.col / kTile;
    const bool is_inside = std::uint64_t{piece.row} + piece.rows <= type.shape.rows &&
                           std::uint64_t{piece.col} + piece.cols <= type.shape.cols;
    const dispute::StateOpening whole{.tensor = 0, .tile = tile, .type = type, .opening = opening};
    if (!is_inside || !dispute::is_well_formed(whole) || size_of(type.dtype) != piece.width ||
        hash_in(piece, opening.tile) == piece.values) {
        return std::nullopt;
    }
    const auto root = merkle::root_from_path(
        dispute::tile_leaf(opening.tile), tile, canonical::tile_count(type.shape), opening.tile_path
    );
    return root ? std::optional(dispute::tensor_commitment(type, *root)) : std::nullopt;
}

/// STM-4 to STM-6: what evidence claims; `is_over` where that needs no dispute.
struct Shown {
    dispute::Claim claim;
    bool is_over = false;
};
std::optional<Shown> shown_by(const dispute::Claim& segment, const dispute::Contradiction& a) {
    const dispute::Statement& statement = a.stated.statement;
    const Piece& piece = a.stated.piece;
    if (!is_stated(a.stated) || statement.before != segment.before) {
        return std::nullopt;
    }
    Shown out{segment, false};
    out.claim.step_count = static_cast<std::uint32_t>(statement.step + 1 - segment.first_step);
    out.claim.after = a.state_root;
    const auto* output = std::get_if<dispute::OutputEvidence>(&a.evidence);
    const auto* state = std::get_if<dispute::StateEvidence>(&a.evidence);
    if (output != nullptr && piece.source == Source::kNode && !piece.part) {
        const auto tensor = contradicted(piece, output->type, output->opening);
        const std::uint32_t entries = segment.program.step_nodes;
        const bool is_output =
            tensor && piece.index < entries - 1 &&
            merkle::root_from_path(*tensor, piece.index, entries, output->opening.source_path) == output->trace_root;
        out.claim.trace = dispute::ClaimedTrace{output->trace_root, std::nullopt};
        return is_output ? std::optional(out) : std::nullopt;
    }
    if (state != nullptr && piece.source == Source::kState) {
        const auto tensor = contradicted(piece, state->type, state->opening);
        const std::uint32_t tensors = segment.program.state_tensors;
        const auto root =
            tensor ? merkle::root_from_path(*tensor, piece.index, tensors, state->opening.source_path) : std::nullopt;
        const bool is_before = root && dispute::state_root_from(tensors, *root) == a.state_root;
        out.is_over = statement.step == segment.first_step;
        if (!is_before || (out.is_over && a.state_root != segment.before)) {
            return std::nullopt;
        }
        out.claim.step_count -= 1;
        return out.is_over ? Shown{segment, true} : out;
    }
    const auto made =
        piece.part ? dispute::make_accusation(segment, a) : dispute::make_accusation(segment, dispute::Contradiction{});
    return made && *made ? std::optional(Shown{**made, false}) : std::nullopt;
}

/// The steps from the checkpoint before the segment on, whatever is claimed to follow.
dispute::Claim claim_before(const Task& task, std::uint32_t segment) {
    dispute::Claim claim;
    claim.program = task.spec.program;
    claim.dataset_root = task.spec.dataset_root;
    claim.seed = task.spec.seed;
    claim.first_step = std::uint64_t{segment - 1} * task.spec.checkpoint_interval;
    claim.step_count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(task.spec.steps - claim.first_step, task.spec.checkpoint_interval)
    );
    claim.before = task.checkpoints.at(segment - 1);
    return claim;
}

std::uint32_t segment_at(const Task& task, std::uint64_t step) {
    return static_cast<std::uint32_t>(step / task.spec.checkpoint_interval) + 1;
}

/// STM-9: how early in a step something is stated, first things first.
std::vector<std::uint64_t> place_of(std::uint64_t step, const dispute::Piece& piece) {
    return {step, piece.source == canonical::Source::kNode ? 1U : 0U, piece.index, piece.part ? 0U : 1U, piece.hop};
}

}  // namespace

bool is_over_claim(const Dispute& dispute) { return !dispute.verdict && !dispute.profile && !dispute.blame; }

bool Model::stands_still(const DisputeId& id) const {
    // STM-9
    const Dispute& dispute = world_.disputes.at(id);
    const std::vector<DisputeId>& open = world_.tasks.at(dispute.task).disputes;
    return std::any_of(open.begin(), open.end(), [&](const DisputeId& other) {
        const auto& blame = world_.disputes.at(other).blame;
        if (!blame || !blame->answers) {
            return false;
        }
        const Dispute& answered = world_.disputes.at(*blame->answers);
        return *blame->answers == id ||
               (is_over_claim(answered) && is_over_claim(dispute) && answered.segment == dispute.segment);
    });
}

// --- refusals ------------------------------------------------------------------------------------------------

Model::Why Model::why_not_fellows(const TaskId& id, const AccountId& member) const {
    const Task* task = find(id);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    const bool is_on = task->state == TaskState::kTraining || task->state == TaskState::kCompleted ||
                       task->state == TaskState::kVerifying || task->state == TaskState::kChallenge ||
                       task->state == TaskState::kDisclosure;
    if (!is_on) {
        out.insert(TxError::kTaskState);
    }
    if (!task->team || !task->team->together || !is_in_team(*task, who_) || !is_in_team(*task, member) ||
        member == who_) {
        out.insert(TxError::kNotTogether);
    }
    return out;
}

Model::Why Model::why_not_answer(const contracts::Accuse& a, std::uint32_t segment) const {
    // STM-9
    const Why no{TxError::kNotAnswerable};
    const auto found = world_.disputes.find(*a.answers);
    if (found == world_.disputes.end()) {
        return no;
    }
    const Dispute& dispute = found->second;
    const auto game = games_.find(*a.answers);
    const bool is_about_it = dispute.task == a.task && dispute.segment == segment;
    const bool is_mine = dispute.blame ? dispute.challenger == who_ && !dispute.responders_turn
                                       : is_over_claim(dispute) && dispute.responder == who_ && dispute.responders_turn;
    if (dispute.state != DisputeState::kActive || !is_about_it || !is_mine || game->second.position.is_at_proof() ||
        stands_still(*a.answers)) {
        return no;
    }
    const dispute::StatedPiece& stated = a.contradiction.stated;
    if (dispute.blame &&
        place_of(stated.statement.step, stated.piece) >= place_of(dispute.blame->step, dispute.blame->piece)) {
        return no;
    }
    for (const Dispute* above = &dispute; above->blame;) {
        if (above->responder == who_) {
            return no;  // it has accused somebody on the way here
        }
        if (!above->blame->answers) {
            break;
        }
        above = &world_.disputes.at(*above->blame->answers);
    }
    return {};
}

Model::Why Model::why(const contracts::Accuse& a) const {
    const dispute::Statement& statement = a.contradiction.stated.statement;
    Why out = why_not_fellows(a.task, a.member);
    if (statement.task != Hash256{a.task.data} || !is_signed(a.member, statement, a.signature)) {
        out.insert(TxError::kNotStated);
    }
    if (!out.empty()) {
        return out;
    }
    const Task& task = *find(a.task);
    if (statement.step >= task.spec.steps || segment_at(task, statement.step) > task.checkpoints.size()) {
        return {TxError::kSegmentUnknown};
    }
    const std::uint32_t segment = segment_at(task, statement.step);
    if (a.answers) {
        out = why_not_answer(a, segment);
    } else if (task.state != TaskState::kTraining) {
        out.insert(TxError::kTaskState);
    } else {
        Task copy = task;
        if (bond_in(copy, who_) < challenge_bond(task)) {
            out.insert(TxError::kInsufficientStake);
        }
        const bool accuses = std::any_of(task.disputes.begin(), task.disputes.end(), [&](const DisputeId& id) {
            const Dispute& other = world_.disputes.at(id);
            return other.blame && !other.blame->answers && other.responder == who_;
        });
        if (accuses) {
            out.insert(TxError::kAlreadyDisputed);
        }
        if (!has_room_for_dispute()) {
            out.insert(TxError::kDutiesFull);
        }
    }
    if (world_.disputes.contains(contracts::accusation_id(a.task, segment, a.member, who_, a.answers))) {
        out.insert(TxError::kAlreadyDisputed);
    }
    if (!shown_by(claim_before(task, segment), a.contradiction)) {
        out.insert(TxError::kNoEvidence);
    }
    return out;
}

Model::Why Model::why(const contracts::ReportEquivocation& a) const {
    Why out = why_not_fellows(a.task, a.member);
    const dispute::Statement& one = a.one.statement;
    const dispute::Statement& other = a.other.statement;
    const bool is_here = one.task == Hash256{a.task.data} && other.task == Hash256{a.task.data};
    if (!is_here || !is_signed(a.member, one, a.one_signature) || !is_signed(a.member, other, a.other_signature)) {
        out.insert(TxError::kNotStated);
    }
    // STM-7
    Piece same = a.one.piece;
    same.values = a.other.piece.values;
    const bool is_same =
        one.before == other.before && one.session == other.session && one.step == other.step && same == a.other.piece;
    if (!is_stated(a.one) || !is_stated(a.other) || !is_same || a.one.piece.values == a.other.piece.values) {
        out.insert(TxError::kNoEvidence);
    }
    if (out.empty()) {
        if (is_culprit(*find(a.task), a.member)) {
            out.insert(TxError::kNotTogether);  // STM-11
        }
    }
    return out;
}

// --- effects -------------------------------------------------------------------------------------------------

void Model::act(const contracts::Accuse& a) {
    // STM-8
    const dispute::Statement& statement = a.contradiction.stated.statement;
    const std::uint32_t segment = segment_at(at(a.task), statement.step);
    const DisputeId id = contracts::accusation_id(a.task, segment, a.member, who_, a.answers);
    const Shown shown = shown_by(claim_before(at(a.task), segment), a.contradiction).value();
    const auto chains = chain_->games.find(id);
    if (chains == chain_->games.end() || codec::encode(shown.claim) != codec::encode(chains->second.claim)) {
        fail("an accusation claims something else than it should");
        return;
    }
    games_[id] = {shown.claim, dispute::start_position(shown.claim)};
    Dispute dispute;
    dispute.task = a.task;
    dispute.segment = segment;
    dispute.responder = who_;
    dispute.challenger = a.member;
    dispute.role = Role::kSolver;
    dispute.blame = Blame{statement.step, a.contradiction.stated.piece, a.answers};
    dispute.lane = a.answers ? 0 : weight_of_dispute(params_);
    dispute.level = games_.at(id).position.level();
    dispute.opened_at = height_;
    dispute.bytes = size_;
    start_clocks(id, dispute);
    if (a.answers) {  // STM-9
        dispute.responder_clock = clock_left(*a.answers, !world_.disputes.at(*a.answers).blame);
    }
    ++seen_[a.answers ? "answered by an accusation" : "accused"];
    world_.disputes[id] = dispute;
    set_deadline(
        {contracts::DueKind::kDispute, Hash256{id.data}, {}}, world_.disputes.at(id).deadline,
        height_ + dispute.responder_clock
    );
    at(a.task).disputes.push_back(id);
    if (shown.is_over) {
        ++seen_["accused of what needs no dispute"];
        rule(id, false, Reason::kFalseStatement);  // STM-5
    }
}

void Model::act(const contracts::ReportEquivocation& a) {
    // STM-11
    AccountId winner = who_;
    for (const DisputeId& id : at(a.task).disputes) {
        const Dispute& open = world_.disputes.at(id);
        const bool is_against =
            open.blame ? open.challenger == a.member : is_over_claim(open) && open.responder == a.member;
        if (is_against) {
            winner = open.blame ? open.responder : open.challenger;
            ++seen_["report of who was accused already"];
            break;
        }
    }
    convict_member(a.task, a.member, winner);
}

void Model::note_loss(const DisputeId& id, const Loss& loss) {
    Dispute& ended = world_.disputes.at(id);
    ended.slashed = loss.slashed;
    ended.paid = loss.paid;
    ended.burned = loss.burned;
}

Model::Loss Model::convict_member(const TaskId& id, const AccountId& member, const AccountId& winner) {
    Task& task = at(id);
    const std::uint64_t lost = (bond_in(task, member) + 1) / 2;
    bond_in(task, member) -= lost;
    const Loss loss = slash(id, Role::kSolver, member, lost, Reason::kFalseStatement, {winner});
    if (!is_culprit(task, member)) {
        task.team->culprits.push_back(member);
    }
    if (flaw_ != Flaw::kPaysCulprits) {
        task.team->convicted.insert(member);
    }
    return loss;
}

void Model::end_accusation(const DisputeId& id, bool is_right, Reason reason) {
    // STM-10
    const Dispute accusation = world_.disputes.at(id);
    const AccountId culprit = is_right ? accusation.challenger : accusation.responder;
    close_dispute(id, is_right ? DisputeState::kUpheld : DisputeState::kRefuted, reason);
    AccountId first = accusation.responder;
    DisputeId last = id;  // that the culprit loses
    for (auto above = accusation.blame->answers; above;) {
        const Dispute answered = world_.disputes.at(*above);
        if (!answered.blame) {
            ++seen_[is_right ? "blame was passed on" : "blame was not passed on"];
            refute_segment(*above, Reason::kFalseStatement, culprit);
            return;
        }
        ++seen_["accusation that was answered has ended"];
        const bool is_its = answered.challenger == culprit;
        close_dispute(*above, is_its ? DisputeState::kUpheld : DisputeState::kMoot, is_its ? reason : Reason::kMoot);
        last = is_its ? *above : last;
        first = answered.responder;
        above = answered.blame->answers;
    }
    if (is_right || accusation.blame->answers) {
        note_loss(last, convict_member(accusation.task, culprit, first));
    } else {
        std::uint64_t& bond = bond_in(at(accusation.task), culprit);
        const std::uint64_t lost = std::min(bond, challenge_bond(at(accusation.task)));
        bond -= lost;
        note_loss(id, slash(accusation.task, Role::kSolver, culprit, lost, reason, {accusation.challenger}));
    }
    resume(accusation.task);
}

}  // namespace assay::model
