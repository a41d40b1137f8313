// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/gas_scenes.hpp>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/retention/retention.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/crypto/ed25519.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/gas_tasks.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::bench {
namespace {

using namespace contracts;

std::optional<Action> submit_task(Stage& stage, const Player& /*player*/) {
    return SubmitTask{make_spec(stage.params, Mode::kTolerance)};
}

std::optional<Action> accept_task(Stage& stage, const Player& player) {
    Task task = exact_task(stage, player, TaskState::kDrawn);
    task.solver_bond = {};
    task.checkpoints = 0;
    end_at(stage, task, Height{stage.height.value + 10});
    return AcceptTask{put(stage, task)};
}

std::optional<Action> post_checkpoint(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kTraining, Mode::kTolerance, VerdictStatus::kDue);
    --task.checkpoints;
    return PostCheckpoint{put(stage, task), task.checkpoints, hash_numbered("checkpoint", 9), make_location()};
}

std::optional<Action> complete_task(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kTraining, Mode::kTolerance, VerdictStatus::kDue);
    end_at(stage, task, Height{stage.height.value + 10});
    return CompleteTask{put(stage, task)};
}

std::optional<Action> draw_verifiers_of_task(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kCompleted, Mode::kTolerance, VerdictStatus::kDue);
    end_at(stage, task, Height{stage.height.value + 10});
    put(stage, task);
    await_round(stage, task);
    return std::nullopt;
}

std::optional<Action> draw_solver_of_task(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kOpen, Mode::kTolerance, VerdictStatus::kDue);
    task.solver.reset();
    task.solver_bond = {};
    put(stage, task);
    await_round(stage, task);
    return std::nullopt;
}

std::optional<Action> draw_profilers_of_task(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kProfiling, Mode::kTolerance, VerdictStatus::kDue);
    task.solver.reset();
    task.solver_bond = {};
    task.tolerance = Tolerance{};
    put(stage, task);
    await_round(stage, task);
    return std::nullopt;
}

std::optional<Action> settle_task(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kDisclosure, Mode::kTolerance, VerdictStatus::kAccepted);
    end_at(stage, task, stage.height);
    put(stage, task);
    return std::nullopt;
}

std::optional<Action> end_profiling_of_task(Stage& stage, const Player& player) {
    Task task = profiled_task(stage, player, ProfilingPhase::kChallenge, ProfileStatus::kStanding);
    end_at(stage, task, stage.height);
    put(stage, task);
    return std::nullopt;
}

std::optional<Action> cancel_task(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kOpen, Mode::kTolerance, VerdictStatus::kDue);
    task.solver.reset();
    task.solver_bond = {};
    await_round(stage, task);
    return CancelTask{put(stage, task)};
}

std::optional<Action> commit_verdict(Stage& stage, const Player& player) {
    Task task = assigned_task(stage, player, TaskState::kVerifying, VerdictStatus::kCommitted, VerdictStatus::kDue);
    end_at(stage, task, Height{stage.height.value + 10});
    return CommitVerdict{put(stage, task), task.assignments.back().segment, hash_numbered("commitment", 0)};
}

/// It rejects, which opens a dispute.
std::optional<Action> publish_verdict(Stage& stage, const Player& player) {
    Task task =
        assigned_task(stage, player, TaskState::kVerifying, VerdictStatus::kAccepted, VerdictStatus::kCommitted);
    task.lottery = hash_numbered("lottery", 0);
    end_at(stage, task, Height{stage.height.value + 10});
    return PublishVerdict{put(stage, task), task.assignments.back().segment, {hash_numbered("other", 0), std::nullopt}};
}

/// The last that is secret: the task settles.
std::optional<Action> disclose_verdict(Stage& stage, const Player& player) {
    Task task =
        assigned_task(stage, player, TaskState::kDisclosure, VerdictStatus::kAccepted, VerdictStatus::kAccepted);
    Assignment& own = task.assignments.back();
    const VerdictOpening opening = make_opening(own);
    own.forced.reset();
    own.commitment = verdict_commitment(task.id, own.segment, own.verifier, opening);
    end_at(stage, task, Height{stage.height.value + 10});
    return DiscloseVerdict{put(stage, task), own.segment, opening};
}

std::optional<Action> open_dispute_over_segment(Stage& stage, const Player& player) {
    Task task = exact_task(stage, player, TaskState::kChallenge, VerdictStatus::kAccepted);
    task.solver = account_numbered(0);
    return OpenDispute{put(stage, task), 1, Role::kWhistleblower};
}

std::optional<Action> challenge_verdict(Stage& stage, const Player& player) {
    Task task = make_task(stage, player, TaskState::kChallenge, Mode::kTolerance, VerdictStatus::kAccepted);
    MeasuredRoots roots;
    for (std::size_t i = 0; i < roots.size(); ++i) {
        roots[i] = hash_numbered("roots", i);
    }
    Assignment& verdict = task.assignments.front();
    const std::uint32_t tensors = task.spec.program.state_tensors;
    const auto put_checkpoint = [&](std::uint32_t index, const Hash256& root) {
        const Hash256 state_root = dispute::state_root_from(tensors, root);
        set_checkpoint(stage.state, task.id, index, {state_root, make_location(), Height{1}, {}});
    };
    put_checkpoint(verdict.segment - 1, roots[0]);
    verdict.end_root = dispute::state_root_from(tensors, roots[1]);
    put_checkpoint(verdict.segment, roots[2]);
    return ChallengeVerdict{put(stage, task),     verdict.segment,           verdict.verifier,
                            Role::kWhistleblower, VerdictPart::kMeasurement, roots};
}

/// A task on which nobody committed: of every verifier a tenth is held (AVL-8).
Task silent_task(Stage& stage, const Player& player) {
    Task task = assigned_task(stage, player, TaskState::kCompleted, VerdictStatus::kMissed, VerdictStatus::kMissed);
    task.spec.program.state_tensors = canonical::kMaxStateTensors;
    for (Assignment& assignment : task.assignments) {
        assignment.bond = tenth_of(assignment.bond);
    }
    end_at(stage, task, Height{stage.height.value + 10});
    return task;
}

/// The last that is needed, of a committee of as many members as there are seats.
std::optional<Action> attest_availability(Stage& stage, const Player& player) {
    Task task = silent_task(stage, player);
    Committee& committee = task.committee.emplace();
    committee.seed = hash_numbered("seed", player.number);
    for (const Assignment& assignment : task.assignments) {
        committee.segments.push_back(assignment.segment);
    }
    const std::uint32_t seats = stage.params.committee_seats;
    for (std::uint32_t i = 0; i < seats; ++i) {
        committee.members.push_back({.account = account_numbered(2 + i), .seats = 1, .has_attested = i < seats / 2});
    }
    committee.members.back() = {.account = player.id, .seats = 1, .has_attested = false};
    const DrawnTile asked = asked_tile(task, seats - 1);
    dispute::StateOpening opening = open_state(canonical::DType::kI64);
    opening.tensor = asked.tensor;
    opening.tile = asked.number % canonical::tile_count(opening.type.shape);
    const Hash256 root = dispute::state_root_of(opening, task.spec.program.state_tensors).value();
    set_checkpoint(stage.state, task.id, asked.checkpoint, {root, make_location(), Height{1}, {}});
    return AttestAvailability{put(stage, task), opening};
}

/// The last tile of a result that is kept: the task ends with it.
std::optional<Action> show_result(Stage& stage, const Player& player) {
    Task task = exact_task(stage, player, TaskState::kKept);
    task.spec.program.state_tensors = canonical::kMaxStateTensors;
    task.spec.retention = Retention{.blocks = 100, .fee = task.escrow};
    task.solver_bond = task.escrow;
    task.keeping =
        Keeping{.begun_at = Height{1}, .shows = 0, .shows_due = 1, .seed = hash_numbered("seed", player.number)};
    const DrawnTile asked = shown_tile(task);
    dispute::StateOpening opening = open_state(canonical::DType::kI64);
    opening.tensor = asked.tensor;
    opening.tile = asked.number % canonical::tile_count(opening.type.shape);
    const Hash256 root = dispute::state_root_of(opening, task.spec.program.state_tensors).value();
    set_checkpoint(stage.state, task.id, task.checkpoints - 1, {root, make_location(), Height{1}, {}});
    return ShowResult{put(stage, task), opening};
}

std::optional<Action> draw_committee_of_task(Stage& stage, const Player& player) {
    Task task = silent_task(stage, player);
    put(stage, task);
    await_round(stage, task);
    return std::nullopt;
}

std::optional<Action> declare_divergence(Stage& stage, const Player& player) {
    Task task = exact_task(stage, player, TaskState::kTraining);
    task.spec.program.state_tensors = canonical::kMaxStateTensors;
    --task.checkpoints;
    end_at(stage, task, Height{stage.height.value + 10});
    dispute::StateOpening opening = open_state(canonical::DType::kF32);
    const std::uint32_t nan = 0x7fc00000U;
    for (std::size_t i = 0; i < 4; ++i) {
        opening.opening.tile.data[opening.opening.tile.data.size() - 4 + i] = static_cast<std::uint8_t>(nan >> (8 * i));
    }
    const Hash256 root = dispute::state_root_of(opening, task.spec.program.state_tensors).value();
    return DeclareDivergence{put(stage, task), first_step(task.spec, task.checkpoints), root, make_location(), opening};
}

std::optional<Action> unjail(Stage& stage, const Player& player) {
    ConsensusKey key;
    key.data = hash_numbered("consensus", player.number).data;
    register_validator(stage.state, player.id, key);
    Validator validator = find_validator(stage.state, player.id).value();
    validator.jailed_until = Height{1};
    set_validator(stage.state, player.id, validator);
    return Unjail{};
}

std::optional<Action> register_as_validator(Stage& /*stage*/, const Player& player) {
    const crypto::Ed25519Key key(hash_numbered("consensus", player.number).data);
    const Hash256 claim = consensus_key_claim(kChainId, player.id);
    return RegisterValidator{ConsensusKey{key.public_key()}, ConsensusSignature{key.sign(claim.view())}};
}

/// The player is one of a thousand validators.
void seat(Stage& stage, const Player& player) {
    constexpr std::uint64_t kRegistered = 1'000;
    if (get_validators(stage.state).empty()) {
        for (std::uint64_t i = 0; i < kRegistered; ++i) {
            const AccountId other{hash_numbered("other validator", i).data};
            register_validator(stage.state, other, ConsensusKey{hash_numbered("other key", i).data});
        }
    }
    register_validator(stage.state, player.id, ConsensusKey{hash_numbered("consensus", player.number).data});
    Validator validator = find_validator(stage.state, player.id).value();
    validator.power = 1;
    set_validator(stage.state, player.id, validator);
}

std::optional<Action> propose_params(Stage& stage, const Player& player) {
    seat(stage, player);
    return ProposeParams{.changes = {{VotableParam::kJailBlocks, std::uint64_t{stage.params.jail_blocks} + 1}}};
}

std::optional<Action> vote(Stage& stage, const Player& player) {
    seat(stage, player);
    const ProposalId id{hash_numbered("proposal", player.number).data};
    Proposal proposal;
    proposal.proposer = AccountId{hash_numbered("other validator", player.number).data};
    proposal.kind = ProposalKind::kHalt;
    proposal.ends = Height{stage.height.value + 1'000};
    set_proposal(stage.state, id, proposal);
    return Vote{.proposal = id, .in_favour = true};
}

std::optional<Action> commit_profile(Stage& stage, const Player& player) {
    Task task = profiled_task(stage, player, ProfilingPhase::kCommit, ProfileStatus::kDue);
    end_at(stage, task, Height{stage.height.value + 10});
    return CommitProfile{put(stage, task), hash_numbered("commitment", 0)};
}

std::optional<Action> publish_profile(Stage& stage, const Player& player) {
    Task task = profiled_task(stage, player, ProfilingPhase::kPublish, ProfileStatus::kCommitted);
    const ProfileReport report = make_report(stage.params);
    task.tolerance->profiles[0].commitment = profile_commitment(task.id, player.id, report, hash_numbered("salt", 0));
    end_at(stage, task, Height{stage.height.value + 10});
    return PublishProfile{put(stage, task), report, hash_numbered("salt", 0)};
}

std::optional<Action> challenge_profile(Stage& stage, const Player& player) {
    Task task = profiled_task(stage, player, ProfilingPhase::kChallenge, ProfileStatus::kStanding);
    task.tolerance->profiles[0].profiler = account_numbered(0);
    end_at(stage, task, Height{stage.height.value + 10});
    return ChallengeProfile{put(stage, task), account_numbered(0), Role::kWhistleblower, ProfilePart::kReplayed, 1,
                            std::nullopt};
}

RegisterTerms terms() { return {.role = Role::kSolver, .terms = {.hardware_class = 1}, .score = 1'000'000}; }

}  // namespace

std::vector<Scene> ordinary_scenes() {
    const auto always = [](const auto& make) {
        return [make](Stage&, const Player& player) -> std::optional<Action> { return make(player); };
    };
    return {
        {"transfer", always([](const Player& p) {
             return Transfer{account_numbered(1'000'000 + p.number), Amount{1}};
         })},
        {"bond", always([](const Player&) {
             return Bond{Role::kVerifier, Amount{1}};
         })},
        {"unbond", always([](const Player&) {
             return Unbond{Role::kVerifier, Amount{1}};
         })},
        {"submit_task", submit_task},
        {"draw of the profilers", draw_profilers_of_task, {"submit_task"}},
        {"end of profiling", end_profiling_of_task, {"submit_task"}},
        {"draw of the solver", draw_solver_of_task, {"submit_task"}},
        {"accept_task", accept_task},
        {"post_checkpoint", post_checkpoint},
        {"complete_task", complete_task},
        {"draw of the verifiers", draw_verifiers_of_task, {"complete_task", "declare_divergence"}},
        {"settlement", settle_task, {"complete_task", "declare_divergence"}},
        {"cancel_task", cancel_task},
        {"commit_verdict", commit_verdict},
        {"publish_verdict", publish_verdict},
        {"disclose_verdict", disclose_verdict},
        {"open_dispute", open_dispute_over_segment},
        {"challenge_verdict", challenge_verdict},
        {"draw of a committee", draw_committee_of_task},
        {"attest_availability", attest_availability},
        {"show_result", show_result},
        {"declare_divergence", declare_divergence},
        {"register_validator", register_as_validator},
        {"unjail", unjail},
        {"propose_params", propose_params},
        {"vote", vote},
        {"register_terms", always([](const Player&) { return terms(); })},
        {.name = "register_terms (for an owner)",
         .play = always([](const Player&) { return terms(); }),
         .is_for_owner = true},
        {"name_operator", always([](const Player&) { return NameOperator{AccountId{{1}}}; })},
        {"commit_profile", commit_profile},
        {"publish_profile", publish_profile},
        {"challenge_profile", challenge_profile},
    };
}

}  // namespace assay::bench
