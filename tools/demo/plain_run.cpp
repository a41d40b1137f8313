// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/plain_run.hpp>

#include <stdexcept>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/demo/own_command.hpp>

namespace assay::demo {

PlainRun::PlainRun(const DemoOptions& options, const std::filesystem::path& home)
    : log_(home.parent_path() / "plain.log") {
    std::vector<std::string> command{
        own_executable().string(),
        "demo",
        "--fraud",
        "none",
        "--seed",
        std::to_string(options.seed),
        "--no-open",
        "--home",
        home,
        "-o",
        "json",
        "--text",
        options.text.string(),
        "--model",
        options.model};
    if (options.steps) {
        command.insert(command.end(), {"--steps", std::to_string(*options.steps)});
    }
    if (options.tolerance) {
        command.insert(command.end(), {"--mode", "tolerance"});
    }
    if (options.tokenizer) {
        command.insert(command.end(), {"--tokenizer", options.tokenizer->string()});
    }
    process_ = std::make_unique<system::Process>("plain demo", command, log_, [this](const std::string& line) {
        printed_ += line + "\n";
    });
}

std::string PlainRun::root(std::chrono::minutes patience) {
    const auto give_up_at = std::chrono::steady_clock::now() + patience;
    while (!process_->exit_status()) {
        if (std::chrono::steady_clock::now() > give_up_at) {
            throw std::runtime_error("the plain demo does not end; see " + log_.string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const int status = *process_->exit_status();
    process_.reset();  // and with it the thread that writes what was printed
    const auto report = nlohmann::json::parse(printed_, nullptr, false);
    if (status != 0 || !report.is_object() || !report.contains("root")) {
        throw std::runtime_error(
            "the plain demo ended with status " + std::to_string(status) + "; see " + log_.string()
        );
    }
    return report.at("root").get<std::string>();
}

}  // namespace assay::demo
