// SPDX-License-Identifier: Apache-2.0
#include <verifier/launcher/launch.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <core/system/file.hpp>
#include <core/system/temporary_directory.hpp>
#include <verifier/launcher/statement.hpp>

namespace assay::launcher {
namespace {

// What `podman run` ends with when it has not run the program (podman-run(1), "Exit Status").
constexpr int kPodmanFailed = 125;
constexpr int kCannotInvoke = 126;
constexpr int kNoProgram = 127;

CommandLine command(const LaunchOptions& options, const std::vector<std::string>& arguments) {
    CommandLine out{options.podman};
    out.insert(out.end(), arguments.begin(), arguments.end());
    return out;
}

void check_allowed(const LaunchOptions& options) {
    const Hash256 image = options.environment.image.value();
    const bool is_named = options.allowed.empty() ||
                          std::find(options.allowed.begin(), options.allowed.end(), image) != options.allowed.end();
    if (!is_named) {
        throw ImageError(
            digest_text(image) +
            " is none of the images that --allow-image admits; an image is foreign code: name it "
            "there if you trust who made it"
        );
    }
}

std::string find_id(const LaunchOptions& options) {
    const Hash256 wanted = options.environment.image.value();
    for (const Image& image : decode_list(output_of(command(options, {"images", "--format", "json"})))) {
        if (image.digests.contains(wanted)) {
            return image.id;
        }
    }
    return {};
}

}  // namespace

CommandLine run_command(
    const LaunchOptions& options, const std::string& id, const std::string& name, const std::filesystem::path& statement
) {
    const std::string home = options.home.string();
    // The worker is root in the container without any of root's capabilities, so that it can write to its home.
    std::vector<std::string> run{
        "run",
        "--rm",
        "--pull=never",
        "--name=" + name,
        "--network=" + options.network,
        "--user=0:0",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        "--read-only",
        "--tmpfs=/tmp",
        "--volume=" + home + ":" + home,
        "--volume=" + statement.string() + ":" + kStatementPath + ":ro",
        "--env=ASSAY_PASSWORD",
        "--entrypoint=" + options.program};
    run.insert(run.end(), options.container_options.begin(), options.container_options.end());
    run.push_back(id);
    run.insert(run.end(), options.arguments.begin(), options.arguments.end());
    run.insert(run.end(), {"--home", home});
    if (!options.arguments.empty() && options.arguments.front() == "solve") {
        run.insert(run.end(), {"--environment-file", kStatementPath});
    }
    return command(options, run);
}

Image find_image(const LaunchOptions& options) {
    check_allowed(options);
    const std::string digest = digest_text(options.environment.image.value());
    std::string id = find_id(options);
    if (id.empty() && options.pulls) {
        output_of(command(options, {"pull", "--quiet", options.reference + "@" + digest}));
        id = find_id(options);
    }
    if (id.empty()) {
        throw ImageError(
            "podman has no image with digest " + digest + ": fetch it with `podman pull NAME@" + digest +
            "`, or give --image NAME@" + digest + " and --pull"
        );
    }
    Image image = decode_inspection(output_of(command(options, {"image", "inspect", id})));
    check_image(image, options.environment);
    return image;
}

int launch(const LaunchOptions& options, const std::atomic<bool>& stop) {
    const Image image = find_image(options);
    const system::TemporaryDirectory scratch("assay-run");
    const std::filesystem::path statement = scratch.path() / "environment.json";
    if (!system::write_file(statement, statement_text(options.environment))) {
        throw std::runtime_error("cannot write " + statement.string());
    }
    const std::string name = "assay-worker-" + std::to_string(::getpid());
    const int status = follow(
        run_command(options, image.id, name, statement),
        {.requested = stop, .grace = options.grace, .kill = command(options, {"kill", name})}
    );
    if (status == kNoProgram || status == kCannotInvoke) {
        throw ImageError(
            "podman could not start " + options.program +
            " in the image: what it wrote above says why; --program names "
            "another file"
        );
    }
    if (status == kPodmanFailed) {
        throw PodmanError("podman could not run the image: what it wrote above says why");
    }
    return status;
}

}  // namespace assay::launcher
