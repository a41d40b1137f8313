// SPDX-License-Identifier: Apache-2.0
// Tasks whose moments are bf16 and int8 are settled, and a lie about what is narrowed is convicted by that node.
#include <fstream>
#include <iostream>
#include <string>

#include <core/dispute/bisection.hpp>
#include <tests/e2e/demo/small_network.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace {

using namespace assay;
using contracts::TaskState;
using e2e::SmallNetwork;

constexpr std::uint64_t kLieAtStep = 25;

contracts::Params quick_params() {
    contracts::Params params;
    params.accept_blocks = 300;
    params.commit_blocks = 1'000;
    params.contributor_bond = Amount{100 * e2e::kAsy};
    params.publish_blocks = 1'000;
    params.challenge_blocks = 40;
    params.segments_checked = 5;  // all four and the initialisation, so that a verifier sees the lie
    params.forced_error_bps = 0;
    return params;
}

std::filesystem::path write_task(const std::filesystem::path& home, const std::string& moments) {
    const std::filesystem::path directory = home / ("task-" + moments);
    std::filesystem::create_directories(directory);
    std::ofstream(
        directory / "task.toml"
    ) << "title = \"moments of type "
      << moments
      << "\"\nsteps = 80\ncheckpoint_interval = 20\nseed = 3\nreward = \"20 ASY\"\nverification_fee = \"3 ASY\"\n"
         "training_blocks = 2000\n[model]\nkind = \"char\"\ncontext = 8\nembedding = 32\nhidden = 64\nbatch_size = 32\n"
         "[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\nmoments = \""
      << moments << "\"\n[data]\ntext = \"/usr/share/common-licenses/GPL-3\"\n";
    return directory;
}

/// The last node that narrows, which is the second moment of the head's bias, or its exponents.
std::uint32_t narrowing_node(const std::filesystem::path& directory) {
    taskdir::Findings findings(taskdir::task_file_name(directory));
    const auto task = taskdir::build_task(directory, findings);
    findings.throw_if_wrong();
    std::uint32_t node = 0;
    for (std::uint32_t i = 0; i < task->program.step.size(); ++i) {
        node = task->program.step[i].op == canonical::Op::kNarrow ? i : node;
    }
    return node;
}

void play_honest(SmallNetwork& at, const std::string& moments) {
    const auto id = at.submit_directory(write_task(at.home, moments));
    at.expect(at.wait(id, TaskState::kSettled) == TaskState::kSettled, "with " + moments + " a task is settled");
    at.expect(at.network.rpc().disputes(id).empty(), "nobody disputes it");
}

void play_lie(SmallNetwork& at, const std::filesystem::path& directory, std::uint32_t node) {
    const auto id = at.submit_directory(directory);
    at.expect(at.wait(id, TaskState::kConvicted) == TaskState::kConvicted, "the lie is convicted");
    bool is_found = false;
    for (const auto& each : at.network.rpc().disputes(id)) {
        const auto dispute = at.network.rpc().dispute(each);
        if (!dispute) {
            continue;
        }
        const dispute::Pinpoint found = dispute::pinpoint(dispute->position);
        std::cout << "    a dispute ended at step " << found.step << ", node " << found.node.value_or(0) << std::endl;
        is_found = is_found || (found.step == kLieAtStep && found.node == node && found.op == canonical::Op::kNarrow);
    }
    at.expect(is_found, "by the node that narrows");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: moments DIRECTORY_OF_BINARIES\n";
        return 2;
    }
    return e2e::play_in_directory([&](const std::filesystem::path& home) {
        int faults = 0;
        {
            SmallNetwork at(argv[1], home / "honest", quick_params(), {"v1", "v2", "v3"});
            play_honest(at, "bf16");
            play_honest(at, "int8");
            faults += at.faults;
        }
        for (const std::string moments : {"bf16", "int8"}) {
            const std::filesystem::path directory = write_task(home, moments);
            const std::uint32_t node = narrowing_node(directory);
            SmallNetwork at(
                argv[1], home / moments, quick_params(), {"v1", "v2", "v3"}, {},
                {"solve", "--dishonest", "tile", "--dishonest-step", std::to_string(kLieAtStep), "--dishonest-node",
                 std::to_string(node)}
            );
            play_lie(at, directory, node);
            faults += at.faults;
        }
        return faults;
    });
}
