// SPDX-License-Identifier: Apache-2.0
// Verifiers of a task with a large dataset fetch the chunks that their segments read, and no more of it.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include <tests/e2e/demo/small_network.hpp>

namespace {

using namespace assay;
using contracts::TaskState;
using e2e::SmallNetwork;

constexpr std::size_t kTextBytes = std::size_t{8} << 20U;

contracts::Params quick_params() {
    contracts::Params params;
    params.accept_blocks = 100;
    params.commit_blocks = 1'000;
    params.contributor_bond = Amount{100 * e2e::kAsy};
    params.publish_blocks = 1'000;
    params.challenge_blocks = 20;
    params.segments_checked = 5;
    params.forced_error_bps = 0;
    return params;
}

void write_text(const std::filesystem::path& path) {
    std::string text(kTextBytes, 'a');
    std::uint32_t word = 7;
    for (char& letter : text) {
        word = word * 1'664'525U + 1'013'904'223U;
        letter = static_cast<char>('a' + (word >> 24U) % 26U);
    }
    std::ofstream(path, std::ios::binary) << text;
}

void play(SmallNetwork& at) {
    at.text = at.home / "text";
    write_text(at.text);
    const auto task = at.submit("large", 60, 64, 3, "");
    at.expect(at.wait(task, TaskState::kSettled) == TaskState::kSettled, "the task is settled");
    std::size_t parts = 0;
    bool is_little = true;
    bool has_trouble = false;
    for (const demo::WorkerEvent& each : at.network.take_events()) {
        const std::string event = each.event.value("event", "");
        if (event == "dataset") {
            ++parts;
            std::cout << each.worker << ": " << each.event.dump() << std::endl;
            is_little = is_little && each.event.value("bytes", kTextBytes) * 3 < each.event.value("of", std::size_t{0});
        }
        has_trouble = has_trouble || event == "trouble";
    }
    at.expect(parts != 0, "verifiers report what they fetched of the dataset");
    at.expect(is_little, "it is less than a third");
    at.expect(!has_trouble, "nothing goes wrong");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: dataset_parts DIRECTORY_OF_BINARIES\n";
        return 2;
    }
    return e2e::play_in_directory([&](const std::filesystem::path& home) {
        SmallNetwork at(argv[1], home, quick_params(), {"v1", "v2", "v3"});
        at.network.await_workers(std::chrono::seconds(60));
        play(at);
        return at.faults;
    });
}
