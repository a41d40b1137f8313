// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/distances.hpp>

#include <algorithm>
#include <bit>

#include <doctest/doctest.h>

#include <contracts/params/work.hpp>

namespace assay::contracts::test {
namespace {

program::Program make_distance_program() {
    const ToyRun run;
    std::vector<program::StateTensor> types;
    for (const canonical::Tensor& tensor : run.state(0)) {
        types.push_back({"p" + std::to_string(types.size()), {tensor.dtype, tensor.shape}});
    }
    return program::build_distance_program(types).value();
}

const program::Program& distance_program() {
    static const program::Program kProgram = make_distance_program();
    return kProgram;
}

Hash256 measured_root(const State& state) {
    std::vector<Hash256> leaves;
    for (const canonical::Tensor& tensor : state) {
        leaves.push_back(dispute::commit_tensor(tensor));
    }
    return merkle::root_of(leaves);
}

dispute::GroupMeasurement nothing() { return {}; }

}  // namespace

Params tolerance_params() {
    Params params = quick_params();
    params.segments_checked = 4;
    params.verifiers_per_segment_max = 2;
    params.challenge_blocks = 40;
    params.publish_blocks = 20;
    params.commit_blocks = 20;
    params.disclose_blocks = 20;
    return params;
}

TaskSpec tolerance_spec() {
    const ToyRun run;
    const program::Program& distance = distance_program();
    TaskSpec spec = run.spec();
    const auto commitment =
        dispute::commit_program(distance.init, distance.step, 1, distance.batch_size, distance.dataset);
    spec.mode = Mode::kTolerance;
    spec.distance =
        DistanceCommitment{commitment.init_root, commitment.init_nodes, commitment.init_work, commitment.outputs};
    return spec;
}

dispute::Measurement measurement_of(float drift) {
    dispute::Measurement measurement{nothing(), nothing()};
    measurement.parameters.update2 = std::bit_cast<std::uint32_t>(1.0F);
    measurement.parameters.drift2 = std::bit_cast<std::uint32_t>(drift * drift);
    return measurement;
}

ProfileReport report_of(float drift, float reference) {
    ProfileReport report;
    report.start_root = hash_of("start");
    for (int i = 0; i < 3; ++i) {
        const std::string name = std::to_string(i);
        report.segments.push_back({hash_of("native" + name), {}, hash_of("replayed" + name), measurement_of(drift)});
    }
    report.reference_root = hash_of("reference");
    report.reference = measurement_of(reference);
    return report;
}

State replay_from(const ToyRun& run, State state, std::uint64_t first, std::uint32_t steps) {
    for (std::uint64_t step = first; step < first + steps; ++step) {
        state = run.run_step(false, step, state).next;
    }
    return state;
}

dispute::testing::World measuring_world(const State& start, const State& replayed, const State& claimed) {
    const program::Program& program = distance_program();
    return {
        .init = program.init,
        .step = program.step,
        .rows = std::make_shared<ToyRows>(),
        .state = {canonical::make_tensor(canonical::DType::kF32, canonical::kMeasurementShape)},
        .batch_size = program.batch_size,
        .initial = program::measured_state(start, replayed, claimed)};
}

dispute::Measurement measure(const State& start, const State& replayed, const State& claimed, std::uint64_t seed) {
    const dispute::testing::World world = measuring_world(start, replayed, claimed);
    dispute::testing::ScalarReplay replay(world, true, seed);
    return dispute::decode_measurement(canonical::tile_of(replay.state_before(1).front(), 0));
}

MeasuredRoots roots_of(const State& start, const State& replayed, const State& claimed) {
    return {measured_root(start), measured_root(replayed), measured_root(claimed)};
}

void bond_for_tolerance(Chain& chain) {
    chain.bond_all();
    for (const Actor* actor : {&chain.whistleblower, &chain.stranger, &chain.solver}) {
        REQUIRE(chain.run(*actor, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
    }
}

TaskId profiling_task(Chain& chain, const std::optional<TaskId>& parent) {
    bond_for_tolerance(chain);
    TaskSpec spec = tolerance_spec();
    spec.parent = parent;
    spec.training_blocks = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(spec.training_blocks, training_blocks_min(chain.params, spec))
    );
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    REQUIRE(chain.task(id).state == TaskState::kProfiling);
    REQUIRE(chain.task(id).tolerance->profiles.empty());
    chain.skip(1);
    REQUIRE(chain.task(id).tolerance->profiles.size() == 4);
    return id;
}

std::vector<const Actor*> profilers_of(const Chain& chain, const TaskId& id) {
    std::vector<const Actor*> found;
    const Task task = chain.task(id);
    for (const Profile& profile : task.tolerance->profiles) {
        for (const Actor* actor : chain.actors()) {
            if (actor->id == profile.profiler) {
                found.push_back(actor);
            }
        }
    }
    return found;
}

void report_all(Chain& chain, const TaskId& id, const std::vector<ProfileReport>& reports) {
    const auto profilers = profilers_of(chain, id);
    const Hash256 salt = hash_of("salt");
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const Hash256 commitment = profile_commitment(id, profilers[i]->id, reports[i], salt);
        REQUIRE(chain.run(*profilers[i], CommitProfile{id, commitment}) == 0);
    }
    while (chain.task(id).tolerance->phase == ProfilingPhase::kCommit) {
        chain.skip(1);
    }
    for (std::size_t i = 0; i < reports.size(); ++i) {
        REQUIRE(chain.run(*profilers[i], PublishProfile{id, reports[i], salt}) == 0);
    }
}

TaskId measured_task(
    Chain& chain, float drift, const std::function<State(std::uint32_t checkpoint)>& checkpoint,
    const std::optional<TaskId>& parent
) {
    const TaskId id = profiling_task(chain, parent);
    // A threshold of 3.1 times the drift: d_ref over the separation.
    ProfileReport report = report_of(drift, 31 * drift);
    report.start_root = root_of(checkpoint(0));
    report_all(chain, id, std::vector<ProfileReport>(4, report));
    chain.skip(report_challenge_span(chain.params, chain.task(id).spec) + 1);
    REQUIRE(chain.task(id).state == TaskState::kDrawn);
    REQUIRE(chain.run(chain.solver, AcceptTask{id}) == 0);
    for (std::uint32_t i = 0; i <= segment_count(chain.task(id)); ++i) {
        REQUIRE(chain.run(chain.solver, PostCheckpoint{id, i, root_of(checkpoint(i)), {}}) == 0);
    }
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    return id;
}

void play(
    Chain& chain, const DisputeId& id, dispute::Replay& responder, dispute::Replay& challenger, const Actor& responding,
    const Actor& challenging
) {
    std::vector<dispute::NodeReveal> reveals;
    for (;;) {
        const Dispute dispute = find_dispute(chain.view, id).value();
        const dispute::Position& position = dispute.position;
        if (dispute.state() != DisputeState::kActive) {
            return;
        }
        if (position.is_at_proof()) {
            const auto proof = dispute::make_proof(dispute.claim, position, challenger, reveals);
            REQUIRE(chain.run(challenging, ProveMove{id, proof}) == 0);
        } else if (position.pending().empty()) {
            const auto children = dispute::make_reveal(dispute.claim, position, responder);
            if (const auto first_node = dispute::first_node_of(position)) {
                reveals.push_back({*first_node, dispute::split(dispute.claim, position).child_height, children});
            }
            REQUIRE(chain.run(responding, RevealMove{id, position.rounds, children}) == 0);
        } else {
            const auto selection = dispute::make_selection(dispute.claim, position, challenger);
            REQUIRE(chain.run(challenging, SelectMove{id, position.rounds, selection}) == 0);
        }
    }
}

}  // namespace assay::contracts::test
