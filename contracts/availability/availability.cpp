// SPDX-License-Identifier: Apache-2.0
#include <contracts/availability/availability.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/chain/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/tasks/lifecycle.hpp>
#include <verifier/trace/opening.hpp>

namespace assay::contracts {
namespace {

constexpr std::size_t kMaxPathLength = 64;

/// The state root that the chunk leads to, for the challenge's tensor and tile; nullopt when a path has the wrong
/// length. The tile is the challenged one modulo the tensor's number of tiles, which only the answer reveals, so that
/// no challenge asks for what does not exist (AVL-4).
std::optional<Hash256> root_of_chunk(const ServeChunk& action, const Challenge& challenge, std::uint32_t tensors) {
    const std::uint64_t tile = challenge.tile % canonical::tile_count(action.type.shape);
    return trace::state_root_of({challenge.tensor, tile, action.type, action.opening}, tensors);
}

void set_challenge_deadline(Context& context, Challenge& challenge, Height deadline) {
    const Due due{DueKind::kChallenge, retag<Hash256>(challenge.id)};
    set_deadline(context.state, due, challenge.deadline, deadline);
}

void close_challenge(Context& context, Challenge& challenge, ChallengeState state) {
    challenge.state = state;
    set_challenge_deadline(context, challenge, Height{});
}

void return_bond(Context& context, Challenge& challenge, Amount amount) {
    unlock_stake(context, challenge.challenger_role, challenge.challenger, amount);
    challenge.bond = {};
}

void forget_challenge(Context& context, Task& task, const ChallengeId& id) {
    --task.open_challenges;
    Docket docket = get_docket(context.state, task.id);
    std::erase(docket.challenges, id);
    set_docket(context.state, task.id, docket);
}

}  // namespace

ChallengeId challenge_id(const AccountId& challenger, std::uint64_t nonce) noexcept {
    static const crypto::TaggedHash kTag("assay/challenge");
    return retag<ChallengeId>(kTag(codec::encode(challenger), codec::encode(nonce)));
}

// --- challenge -----------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ChallengeAvailability& action) noexcept {
    if (action.role == Role::kSolver || action.role == Role::kValidator || action.checkpoint > kMaxSegments ||
        action.tensor >= canonical::kMaxStateTensors) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeAvailability& action
) noexcept {
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kTraining, TaskState::kChallenge));
    TRY(require_open_window(view, task));
    if (action.checkpoint >= task.checkpoints || action.tensor >= task.spec.program.state_tensors) {
        return Unexpected{TxError::kCheckpointUnknown};  // AVL-1
    }
    if (task.solver == sender) {
        return Unexpected{TxError::kNotParty};
    }
    return check_free_stake(view, action.role, sender, challenger_bond(params, task_value(task.spec)));
}

Result<void, TxError> execute(Context& context, const ChallengeAvailability& action) noexcept {
    // AVL-1
    Task task = find_task(context.state, action.task).value();
    Challenge challenge;
    challenge.id = challenge_id(context.actor, context.nonce);
    challenge.task = action.task;
    challenge.checkpoint = action.checkpoint;
    challenge.tensor = action.tensor;
    challenge.tile = action.tile;
    challenge.challenger = context.actor;
    challenge.challenger_role = action.role;
    challenge.bond = challenger_bond(context.params, task_value(task.spec));
    challenge.opened_at = context.height();
    lock_stake(context, action.role, context.actor, challenge.bond);
    set_challenge_deadline(context, challenge, context.height_after(context.params.availability_blocks));
    set_challenge(context.state, challenge);
    ++task.open_challenges;
    Docket docket = get_docket(context.state, task.id);
    docket.challenges.push_back(challenge.id);
    set_docket(context.state, task.id, docket);
    record(context, task, history::AvailabilityChallenged{challenge.id, action.checkpoint});
    set_task(context.state, task);
    return {};
}

// --- serve ---------------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ServeChunk& action) noexcept {
    const bool in_range = trace::is_well_formed({0, 0, action.type, action.opening}) &&
                          action.opening.tile_path.size() <= kMaxPathLength &&
                          action.opening.source_path.size() <= kMaxPathLength;
    if (!in_range) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& /*sender*/, const ServeChunk& action
) noexcept {
    const auto challenge = find_challenge(view, action.challenge);
    if (!challenge) {
        return Unexpected{TxError::kChallengeUnknown};  // AVL-1
    }
    if (challenge->state != ChallengeState::kOpen) {
        return Unexpected{TxError::kChallengeOver};  // AVL-2
    }
    const Task task = find_task(view, challenge->task).value();
    const Checkpoint checkpoint = find_checkpoint(view, challenge->task, challenge->checkpoint).value();
    if (root_of_chunk(action, *challenge, task.spec.program.state_tensors) != checkpoint.state_root) {
        return Unexpected{TxError::kChunkInvalid};  // AVL-4
    }
    return {};
}

Result<void, TxError> execute(Context& context, const ServeChunk& action) noexcept {
    // AVL-2
    Challenge challenge = find_challenge(context.state, action.challenge).value();
    Task task = find_task(context.state, challenge.task).value();
    close_challenge(context, challenge, ChallengeState::kServed);
    forget_challenge(context, task, challenge.id);
    record(context, task, history::AvailabilityEnded{challenge.id, true});
    const Penalty penalty{
        .role = challenge.challenger_role,
        .from = challenge.challenger,
        .amount = tenth_of(challenge.bond),
        .reason = Reason::kNeedlessChallenge,
        .winners = {task.solver.value()},
        .winner_reason = Reason::kNeedlessChallenge};
    slash(context, task, penalty);
    return_bond(context, challenge, Amount{challenge.bond.grains - penalty.amount.grains});
    set_challenge(context.state, challenge);
    resume_deadline(context, task, true);
    set_task(context.state, task);
    return {};
}

// --- ends ----------------------------------------------------------------------------------------------------

void lapse_challenge(Context& context, Challenge challenge) {
    // AVL-3
    Task task = find_task(context.state, challenge.task).value();
    close_challenge(context, challenge, ChallengeState::kLapsed);
    forget_challenge(context, task, challenge.id);
    record(context, task, history::AvailabilityEnded{challenge.id, false});
    return_bond(context, challenge, challenge.bond);
    set_challenge(context.state, challenge);
    convict(context, task, {.reason = Reason::kUnavailable, .winners = {challenge.challenger}});
}

void end_challenge_as_moot(Context& context, Task& task, const ChallengeId& id) {
    // AVL-5
    Challenge challenge = find_challenge(context.state, id).value();
    close_challenge(context, challenge, ChallengeState::kMoot);
    return_bond(context, challenge, challenge.bond);
    set_challenge(context.state, challenge);
    record(context, task, history::AvailabilityEnded{id, false, true});
}

}  // namespace assay::contracts
