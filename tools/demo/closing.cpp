// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/closing.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>

#include <tools/demo/explorer_page.hpp>

namespace assay::demo {

void hand_out(const nlohmann::json& report, const DemoOptions& options) {
    if (options.report) {
        std::ofstream out(*options.report);
        out << report.dump(2) << "\n";
        if (!out) {
            throw std::runtime_error("cannot write the report to " + options.report->string());
        }
    }
    if (options.json) {
        std::cout << report.dump(2) << "\n";
    }
}

int close_story(
    const nlohmann::json& report, const std::vector<std::string>& complaints, const std::set<std::string>& refusals,
    const DemoOptions& options, const std::filesystem::path& home, Narrator& narrator
) {
    for (const std::string& complaint : complaints) {
        std::cerr << "demo: not as it should be: " << complaint << "\n";
    }
    for (const std::string& reason : complaints.empty() ? std::set<std::string>{} : refusals) {
        std::cerr << "demo: what a worker sent was refused: " << reason << "\n";
    }
    if (!complaints.empty()) {
        return 1;
    }
    std::array<char, 200> text{};
    std::snprintf(
        text.data(), text.size(),
        "everything ended as it should in %.1f s: history of the first task audited against a proof, supply "
        "conserved",
        report.at("wall_s").get<double>()
    );
    narrator.heading(text.data());
    narrator.plain(how_to_look_again(options, home));
    return 0;
}

void run_on(Network& network, const std::vector<Act>& acts, const std::atomic<bool>& stop, Narrator& narrator) {
    narrator.heading("still running; Ctrl-C stops everything");
    narrator.plain("  try:  assay --node " + network.rpc_url() + " task list");
    for (const Act& act : acts) {
        narrator.plain("        assay --node " + network.rpc_url() + " audit task " + to_hex(act.story->task().view()));
    }
    while (!stop) {
        network.check_alive();
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}

}  // namespace assay::demo
