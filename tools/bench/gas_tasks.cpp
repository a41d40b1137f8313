// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/gas_tasks.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
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
#include <core/dispute/commitment.hpp>

namespace assay::bench {

using namespace contracts;
namespace {

/// AVL-7: a full committee for each segment that can be drawn. The numbers of its members are no other accounts'.
std::vector<Available> make_available(const Params& params) {
    std::vector<Available> out;
    for (std::uint32_t segment = 0; segment <= params.segments_checked_max; ++segment) {
        Available& found = out.emplace_back();
        found.segments = {segment + 1};
        for (std::uint32_t i = 0; i < params.committee_seats; ++i) {
            found.attesters.push_back(account_numbered(1'000'000 + i));
        }
    }
    return out;
}

}  // namespace

ArtifactRef make_artifact() {
    return {.sha256 = hash_numbered("artifact", 0), .size_bytes = 1, .location = make_location()};
}

std::string make_location() { return std::string(kMaxLocationBytes, 'u'); }

std::uint32_t verdicts_max(const Params& params) {
    return (params.segments_checked_max + 1) * params.verifiers_per_segment_max;  // EVL-5
}

/// Longest strings; as many segments as are ever checked.
TaskSpec make_spec(const Params& params, Mode mode) {
    TaskSpec spec;
    spec.title = std::string(64, 't');
    spec.program.state_tensors = canonical::kMaxStateTensors;
    spec.program.init_nodes = 256;
    spec.program.step_nodes = 256;
    spec.program.init_root = hash_numbered("init", 0);
    spec.program.step_root = hash_numbered("step", 0);
    spec.program.batch_size = 32;
    spec.program.dataset = {1'000, 64};
    spec.program_artifact = make_artifact();
    spec.dataset_artifact = make_artifact();
    spec.steps = std::uint64_t{kInterval} * verdicts_max(params);
    spec.checkpoint_interval = kInterval;
    // So dear that as many segments are checked as can be (PAR-3).
    spec.reward.grains = params.value_per_check.grains * (params.segments_checked_max - params.segments_checked);
    spec.verification_fee = Amount{1'000'000'000};
    spec.training_blocks = 1'000;
    spec.mode = mode;
    if (mode == Mode::kTolerance) {
        spec.distance = DistanceCommitment{.root = hash_numbered("distance", 0), .nodes = 256};
    }
    return spec;
}

dispute::Measurement make_measurement() {
    const std::uint32_t one = std::bit_cast<std::uint32_t>(1.0F);
    const std::uint32_t little = std::bit_cast<std::uint32_t>(1e-12F);
    dispute::GroupMeasurement group{
        .drift2 = little, .update2 = one, .claimed2 = one, .dot = little, .drift_max = little, .update_max = one};
    group.sketch.fill(little);
    return {.parameters = group, .other = group};
}

Assignment make_assignment(Stage& stage, std::uint64_t number, std::uint32_t segment, VerdictStatus status) {
    Assignment out;
    out.segment = segment;
    out.verifier = account_numbered(number * 7 + segment);
    out.status = status;
    out.bond = verifier_bond(stage.params, task_value(make_spec(stage.params, Mode::kExact)));
    out.probe = kInterval / 2;
    for (std::uint32_t i = 0; i < stage.params.watchers_per_verdict; ++i) {
        out.watchers.push_back(account_numbered(i));
    }
    Stake stake = get_stake(stage.state, Role::kVerifier, out.verifier);
    stake.free = kMuch;
    stake.locked = kMuch;
    set_stake(stage.state, Role::kVerifier, out.verifier, stake);
    return out;
}

/// A task of `player`'s in `state`, with all the records that a task can have.
Task make_task(Stage& stage, const Player& player, TaskState state, Mode mode, VerdictStatus verdicts) {
    Task task;
    task.id = retag<TaskId>(hash_numbered("task", player.number));
    task.submitter = player.id;
    task.spec = make_spec(stage.params, mode);
    task.state = state;
    task.submitted_at = Height{1};
    task.escrow = task_value(task.spec);
    task.room = waiting_deposit(stage.params, task.spec);  // or the draws that are measured are not made (TASK-17)
    task.solver = player.id;
    task.solver_bond = solver_bond(stage.params, task.escrow);
    task.checkpoints = segment_count(task.spec) + 1;
    for (std::uint32_t i = 0; i < task.checkpoints; ++i) {
        set_checkpoint(stage.state, task.id, i, {hash_numbered("checkpoint", i), make_location(), Height{1}, {}});
    }
    for (std::uint32_t i = 0; verdicts != VerdictStatus::kDue && i < verdicts_max(stage.params); ++i) {
        Assignment assignment = make_assignment(stage, player.number, i + 1, verdicts);
        if (is_published(assignment)) {
            assignment.end_root = hash_numbered("checkpoint", assignment.segment);
            assignment.probe_root = hash_numbered("probe", assignment.segment);
            assignment.forced = false;
            if (mode == Mode::kTolerance) {
                assignment.measurement = make_measurement();
            }
        }
        task.assignments.push_back(std::move(assignment));
    }
    if (!task.assignments.empty()) {
        task.available = make_available(stage.params);
    }
    if (mode == Mode::kTolerance) {
        task.tolerance.emplace().phase = ProfilingPhase::kOver;
        task.tolerance->threshold = Distances{1'000'000, 1'000'000};
        task.tolerance->reference = Distances{1'000'000'000, 1'000'000'000};
        for (std::uint32_t i = 0; i < stage.params.profilers; ++i) {
            task.tolerance->profiles.push_back(
                {.profiler = account_numbered(i), .status = ProfileStatus::kStanding, .commitment = {}, .bond = {}}
            );
        }
    }
    set_bookkeeping(stage.state, task.id, {});
    return task;
}

Task exact_task(Stage& stage, const Player& player, TaskState state, VerdictStatus verdicts) {
    return make_task(stage, player, state, Mode::kExact, verdicts);
}

/// The task is `player`'s to verify: its last verdict.
Task assigned_task(Stage& stage, const Player& player, TaskState state, VerdictStatus verdicts, VerdictStatus own) {
    Task task = exact_task(stage, player, state, verdicts);
    task.solver = account_numbered(0);
    task.submitter = account_numbered(1);
    Assignment& assignment = task.assignments.back();
    assignment.verifier = player.id;
    assignment.status = own;
    Stake stake = get_stake(stage.state, Role::kSolver, *task.solver);
    stake.locked = kMuch;
    set_stake(stage.state, Role::kSolver, *task.solver, stake);
    return task;
}

TaskId put(Stage& stage, const Task& task) {
    set_task(stage.state, task);
    return task.id;
}

/// The task waits since the block before.
void await_round(Stage& stage, const Task& task) {
    push_waiting(stage.state, queue_of(task).value(), {task.id, Height{stage.height.value - 1}});
}

void end_at(Stage& stage, Task& task, Height height) {
    set_deadline(stage.state, Due{DueKind::kTask, retag<Hash256>(task.id)}, task.deadline, height);
}

VerdictOpening make_opening(const Assignment& assignment) {
    return {
        .verdict = {.end_root = hash_numbered("checkpoint", assignment.segment), .probe_root = {}},
        .marks = std::vector<Hash256>(kMaxMarks, hash_numbered("probe", assignment.segment)),
        .decoy_root = hash_numbered("decoy", 0),
        .salt = hash_numbered("salt", 0)};
}

/// A profile of the longest kind.
ProfileReport make_report(const Params& params) {
    ProfileReport report{
        .start_root = hash_numbered("start", 0),
        .segments = {},
        .reference_root = hash_numbered("reference", 0),
        .reference = make_measurement()};
    for (std::uint32_t i = 0; i < params.profile_segments; ++i) {
        report.segments.push_back(
            {.native_root = hash_numbered("native", i),
             .location = make_location(),
             .replayed_root = hash_numbered("replayed", i),
             .measurement = make_measurement()}
        );
    }
    return report;
}

/// A task whose profiles are in `phase`; the first of them is `player`'s and has `own`.
Task profiled_task(Stage& stage, const Player& player, ProfilingPhase phase, ProfileStatus own) {
    Task task = make_task(stage, player, TaskState::kProfiling, Mode::kTolerance, VerdictStatus::kDue);
    task.solver.reset();
    task.solver_bond = {};
    task.submitter = account_numbered(1);
    task.checkpoints = 0;
    task.tolerance->phase = phase;
    for (std::uint32_t i = 0; i < stage.params.profilers; ++i) {
        Profile& profile = task.tolerance->profiles[i];
        profile.bond = verifier_bond(stage.params, task.escrow);
        profile.status = phase == ProfilingPhase::kCommit ? ProfileStatus::kCommitted : ProfileStatus::kStanding;
        if (profile.status == ProfileStatus::kStanding) {
            set_profile(stage.state, task.id, i, make_report(stage.params));
        }
        Stake stake = get_stake(stage.state, Role::kVerifier, profile.profiler);
        stake.locked = kMuch;
        set_stake(stage.state, Role::kVerifier, profile.profiler, stake);
    }
    task.tolerance->profiles[0].profiler = player.id;
    task.tolerance->profiles[0].status = own;
    return task;
}

dispute::TileOpening open_wide(canonical::DType dtype, std::size_t tile_depth, std::size_t source_depth) {
    dispute::TileOpening out;
    out.tile = canonical::make_tile(dtype);
    for (std::size_t i = 0; i < tile_depth; ++i) {
        out.tile_path.push_back(hash_numbered("tile", i));
    }
    for (std::size_t i = 0; i < source_depth; ++i) {
        out.source_path.push_back(hash_numbered("source", i));
    }
    return out;
}

/// A tile of the largest tensor there is, of i64, in a state of 1,024 tensors.
dispute::StateOpening open_state(canonical::DType dtype) {
    const canonical::Shape shape{canonical::kMaxDimension, canonical::kMaxDimension};
    return {.tensor = 0, .tile = 0, .type = {.dtype = dtype, .shape = shape}, .opening = open_wide(dtype, 38, 12)};
}

Hash256 hash_numbered(const std::string& what, std::uint64_t number) {
    return crypto::sha256(as_bytes(what + " " + std::to_string(number)));
}

Task disputed_task(Stage& stage, const Player& player) {
    return exact_task(stage, player, TaskState::kChallenge, VerdictStatus::kAccepted);
}

Player make_player(std::uint64_t number) {
    auto key = crypto::SecretKey::from_bytes(hash_numbered("player", number).view());
    if (!key) {
        throw std::runtime_error("no key " + std::to_string(number));
    }
    return {.key = *key, .id = key->account(), .number = number};
}

void add_player(Stage& stage, const Player& player) {
    set_account(stage.state, player.id, Account{.balance = kMuch});
    for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWhistleblower, Role::kValidator}) {
        set_stake(stage.state, role, player.id, Stake{.free = kMuch, .locked = kMuch, .unbonding = {}});
    }
}

void add_stakers(Stage& stage) {
    for (const Role role : {Role::kSolver, Role::kVerifier, Role::kWhistleblower}) {
        std::vector<AccountId> stakers;
        for (std::uint64_t i = 0; i < kStakers; ++i) {
            stakers.push_back(account_numbered(i));
            set_account(stage.state, stakers.back(), Account{.balance = kMuch});
            set_stake(stage.state, role, stakers.back(), Stake{.free = kMuch, .locked = kMuch, .unbonding = {}});
        }
        std::sort(stakers.begin(), stakers.end());
        set_stakers(stage.state, role, stakers);
    }
}

}  // namespace assay::bench
