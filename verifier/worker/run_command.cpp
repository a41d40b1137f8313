// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/run_command.hpp>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <core/command/exit_codes.hpp>
#include <verifier/launcher/statement.hpp>
#include <verifier/worker/failure.hpp>

namespace assay::worker {
namespace {

/// What the arguments ask for.
launcher::LaunchOptions options_of(RunArguments& args) {
    launcher::LaunchOptions out = std::move(args.launch);
    const std::size_t at = args.image.rfind('@');
    out.reference = at == std::string::npos ? std::string() : args.image.substr(0, at);
    try {
        const Hash256 digest =
            launcher::decode_digest(at == std::string::npos ? args.image : args.image.substr(at + 1));
        out.environment = launcher::make_environment(digest, args.labels);
        for (const std::string& each : args.allowed) {
            out.allowed.push_back(launcher::decode_digest(each));
        }
    } catch (const launcher::StatementError& error) {
        throw UsageError(error.what());
    }
    if (out.pulls && out.reference.empty()) {
        throw UsageError("--pull needs to know from where: give --image NAME@DIGEST");
    }
    if (!args.checks_only && (args.home.empty() || out.arguments.empty())) {
        throw UsageError("a worker needs --home DIR, and its own arguments after --, as in -- solve --node URL");
    }
    out.home = args.home.empty() ? std::filesystem::path() : std::filesystem::absolute(args.home);
    out.grace = std::chrono::seconds(args.stop_seconds);
    return out;
}

void print_checked(const launcher::Image& image, const contracts::Environment& environment, bool is_json) {
    const auto statement = nlohmann::ordered_json::parse(launcher::statement_text(environment));
    if (is_json) {
        const nlohmann::ordered_json out = {{"id", image.id}, {"environment", statement}};
        std::cout << out.dump(2) << std::endl;
        return;
    }
    std::cout << "image " << image.id << " has the digest and the labels; a worker in it states " << statement.dump()
              << std::endl;
}

}  // namespace

CLI::App* add_run(CLI::App& app, RunArguments& args) {
    CLI::App* const run = app.add_subcommand(
        "run", "Start a worker in a container, and have it state the image and the labels that were checked"
    );
    run->add_option("--image", args.image, "[NAME@]DIGEST of the OCI image, as in sha256:...")->required();
    run->add_option("--label", args.labels, "key=value that the image has to have, and the worker states; repeat it");
    run->add_option(
        "--allow-image", args.allowed,
        "Digest of an image that may be started; repeat it. Without any, the one of --image may"
    );
    run->add_flag("--pull", args.launch.pulls, "Fetch the image if podman does not have it; --image names from where");
    run->add_option("--home", args.home, "The worker's home, which the container has at the same path");
    run->add_option("--network", args.launch.network, "The container's network, for podman")->capture_default_str();
    run->add_option("--program", args.launch.program, "The worker in the image")->capture_default_str();
    run->add_option("--podman", args.launch.podman, "The program that starts containers")->capture_default_str();
    run->add_option(
        "--podman-option", args.launch.container_options,
        "Further option of `podman run`, as in --podman-option=--device=nvidia.com/gpu=all; repeat it"
    );
    run->add_option("--stop-seconds", args.stop_seconds, "How long the worker has to end before it is killed")
        ->check(CLI::Range(1U, 86'400U))
        ->capture_default_str();
    auto* check = run->add_flag("--check", args.checks_only, "Check the image, print what a worker states, and end");
    run->add_option("-o,--output", args.output, "How --check prints")
        ->check(CLI::IsMember({"text", "json"}))
        ->needs(check)
        ->capture_default_str();
    run->add_option("arguments", args.launch.arguments, "After --: the worker's subcommand and its options");
    return run;
}

int run_in_image(RunArguments& args, const std::atomic<bool>& stop) {
    const launcher::LaunchOptions options = options_of(args);
    if (args.checks_only) {
        print_checked(launcher::find_image(options), options.environment, args.output == "json");
        return command::kExitOk;
    }
    std::error_code error;
    std::filesystem::create_directories(options.home, error);
    if (error) {
        throw FileError("cannot use " + options.home.string() + " as a home: " + error.message());
    }
    return launcher::launch(options, stop);
}

void add_environment_option(CLI::App& command, WorkerOptions& options) {
    command.add_option_function<std::string>(
        "--environment-file",
        [&options](const std::string& file) {
            try {
                options.environment = launcher::read_statement(file);
            } catch (const launcher::StatementError& error) {
                throw FileError(error.what());
            }
        },
        "What this worker states of the image and the labels in which it runs; `assay-worker run` writes it"
    );
}

}  // namespace assay::worker
