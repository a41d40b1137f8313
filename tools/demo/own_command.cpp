// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/own_command.hpp>

#include <chrono>
#include <stdexcept>
#include <thread>

#include <core/system/process.hpp>

namespace assay::demo {
namespace {

constexpr std::chrono::minutes kOwnPatience{3};

std::string error_member(const nlohmann::json& answer, const char* name) {
    if (!answer.is_object() || !answer.contains("error") || !answer.at("error").is_object()) {
        return {};
    }
    return answer.at("error").value(name, "");
}

}  // namespace

std::filesystem::path own_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string CommandResult::error_name() const { return error_member(answer, "name"); }
std::string CommandResult::error_message() const { return error_member(answer, "message"); }

CommandResult run_own(
    const std::filesystem::path& home, const std::string& node_url, const std::vector<std::string>& arguments
) {
    std::filesystem::create_directories(home);
    std::vector<std::string> command{
        "/usr/bin/env",
        std::string("ASSAY_PASSWORD=") + kDemoPassword,
        own_executable().string(),
        "--home",
        home.string(),
        "--node",
        node_url,
        "-o",
        "json"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::string printed;
    CommandResult result;
    {
        system::Process process("assay", command, home / "command.log", [&printed](const std::string& line) {
            printed += line + "\n";
        });
        const auto give_up_at = std::chrono::steady_clock::now() + kOwnPatience;
        while (!process.exit_status()) {
            if (std::chrono::steady_clock::now() > give_up_at) {
                throw std::runtime_error("assay " + arguments.front() + " does not end");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        result.status = *process.exit_status();
    }
    result.answer = nlohmann::json::parse(printed, nullptr, false);
    if (result.answer.is_discarded()) {
        result.answer = nullptr;
    }
    return result;
}

}  // namespace assay::demo
