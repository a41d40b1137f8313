// SPDX-License-Identifier: Apache-2.0
// Profile, train natively, verify by distance, settle.
#include <iostream>
#include <string>

#include <tests/e2e/demo/small_network.hpp>

namespace {

using namespace assay;
using contracts::TaskId;
using contracts::TaskState;
using e2e::SmallNetwork;

contracts::Params quick_params() {
    contracts::Params params;
    params.accept_blocks = 300;
    params.commit_blocks = 1'000;
    params.contributor_bond = Amount{100 * e2e::kAsy};
    params.publish_blocks = 1'000;
    params.challenge_blocks = 20;
    params.segments_checked = 4;
    return params;
}

void play(SmallNetwork& at) {
    const TaskId id = at.submit("tolerant", 80, 64, 3, "mode = \"tolerance\"\n");
    at.expect(at.wait(id, TaskState::kTraining) == TaskState::kTraining, "it is profiled and accepted");
    const auto profiled = at.network.rpc().task(id);
    const bool has_threshold = profiled && profiled->tolerance && profiled->tolerance->threshold;
    at.expect(has_threshold, "a threshold follows from the profiles");
    if (has_threshold) {
        const auto& threshold = *profiled->tolerance->threshold;
        const auto& reference = *profiled->tolerance->reference;
        std::cout << "    threshold " << threshold.parameters << " and " << threshold.other << ", d_ref "
                  << reference.parameters << " and " << reference.other << " billionths of an update\n";
        at.expect(threshold.parameters > 0 && threshold.parameters * 10 <= reference.parameters, "far below d_ref");
    }
    at.expect(at.wait(id, TaskState::kSettled) == TaskState::kSettled, "it settles");
    const auto task = at.network.rpc().task(id);
    std::size_t measured = 0;
    bool is_native = false;
    for (const contracts::Assignment& assignment : task->assignments) {
        const bool is_accepted = assignment.status == contracts::VerdictStatus::kAccepted;
        measured += std::size_t{is_accepted && assignment.measurement};
        const auto claimed = at.network.rpc().checkpoint(id, assignment.segment);
        is_native = is_native || (claimed && claimed->state_root != assignment.end_root);
    }
    at.expect(measured >= 3, "its segments were accepted by measurement");
    at.expect(is_native, "and the solver's states are not the canonical ones");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: tolerance BIN\n";
        return 2;
    }
    return e2e::play_in_directory([&](const std::filesystem::path& home) {
        SmallNetwork network(argv[1], home, quick_params(), {"verifier-1", "verifier-2", "verifier-3", "verifier-4"});
        play(network);
        return network.faults;
    });
}
