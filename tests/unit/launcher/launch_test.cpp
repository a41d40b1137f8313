// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <tests/unit/cli/temporary.hpp>
#include <verifier/launcher/launch.hpp>
#include <verifier/launcher/statement.hpp>

namespace assay::launcher {
namespace {

const std::string kImageId(64, '1');
const std::string kImageDigest = "sha256:" + std::string(64, 'a');

/// A podman that has one image, notes its command lines, and runs a piece of shell in the place of a container.
class FakePodman {
  public:
    explicit FakePodman(const std::string& container, bool has_image = true) {
        const std::string image =
            R"([{"Id":")" + kImageId + R"(","Digest":")" + kImageDigest + R"(","Labels":{"cuda":"12.4"}}])";
        std::ofstream(directory_.path() / "image.json") << image;
        std::ofstream(directory_.path() / "list.json") << (has_image ? image : "[]");
        std::ofstream script(program());
        script << "#!/bin/sh\ncd '" << directory_.path().string() << "'\necho \"$@\" >> calls\ncase \"$1\" in\n"
               << "images) cat list.json;;\nimage) cat image.json;;\npull) cp image.json list.json;;\n"
               << "kill) echo killed >> calls;;\n"
               << "run) for a in \"$@\"; do case \"$a\" in --volume=*:/run/assay/environment.json:ro) "
               << "f=${a#--volume=}; cp \"${f%%:*}\" statement;; esac; done; " << container << ";;\nesac\n";
        script.close();
        std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    }

    LaunchOptions options() const {
        LaunchOptions out;
        out.podman = program().string();
        out.environment = make_environment(decode_digest(kImageDigest), {"cuda=12.4"});
        out.home = directory_.path();
        out.arguments = {"solve", "--node", "http://127.0.0.1:1"};
        return out;
    }
    std::string text(const char* name) const {
        std::ifstream in(directory_.path() / name);
        std::ostringstream out;
        out << in.rdbuf();
        return out.str();
    }

  private:
    std::filesystem::path program() const { return directory_.path() / "podman"; }
    cli_test::TemporaryDirectory directory_;
};

/// Requests a stop once the container runs.
int launch_and_stop(const FakePodman& podman, const LaunchOptions& options) {
    std::atomic<bool> stop{false};
    std::thread stopper([&] {
        while (podman.text("calls").find("runs") == std::string::npos) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        stop = true;
    });
    const int status = launch(options, stop);
    stopper.join();
    return status;
}

bool has(const CommandLine& command, const std::string& argument) {
    return std::find(command.begin(), command.end(), argument) != command.end();
}

}  // namespace

TEST_CASE("ENV-4: a worker is started by the image's id, with its home and what it states, and without capabilities") {
    LaunchOptions options;
    options.home = "/srv/solver";
    options.arguments = {"solve", "--max-tasks", "1"};
    options.container_options = {"--device=gpu"};
    const CommandLine command = run_command(options, kImageId, "name", "/tmp/x/environment.json");
    for (const char* const expected :
         {"podman", "run", "--pull=never", "--network=host", "--cap-drop=all", "--security-opt=no-new-privileges",
          "--read-only", "--volume=/srv/solver:/srv/solver", "--name=name", "--entrypoint=assay-worker", "--device=gpu",
          "--volume=/tmp/x/environment.json:/run/assay/environment.json:ro"}) {
        CAPTURE(expected);
        CHECK(has(command, expected));
    }
    const auto id = std::find(command.begin(), command.end(), kImageId);
    REQUIRE(id != command.end());
    CHECK(
        std::vector<std::string>(id + 1, command.end()) ==
        std::vector<std::string>{
            "solve", "--max-tasks", "1", "--home", "/srv/solver", "--environment-file", "/run/assay/environment.json"}
    );
    options.arguments = {"verify"};
    CHECK_FALSE(has(run_command(options, kImageId, "name", "/x"), "--environment-file"));
}

TEST_CASE("the worker's exit status is the launcher's, and the statement that it got is what was checked") {
    const FakePodman podman("exit 4");
    const std::atomic<bool> stop{false};
    CHECK(launch(podman.options(), stop) == 4);
    CHECK(decode_statement(podman.text("statement")) == podman.options().environment);
    CHECK(podman.text("calls").find("pull --quiet") == std::string::npos);
}

TEST_CASE("an image that is not there is fetched if that is asked for, and otherwise nothing is") {
    const FakePodman podman("exit 0", false);
    LaunchOptions options = podman.options();
    CHECK_THROWS_WITH_AS(find_image(options), doctest::Contains("podman pull"), ImageError);
    CHECK(podman.text("calls").find("pull") == std::string::npos);
    options.pulls = true;
    options.reference = "registry.example/assay";
    CHECK(find_image(options).id == kImageId);
    CHECK(podman.text("calls").find("pull --quiet registry.example/assay@" + kImageDigest) != std::string::npos);
}

TEST_CASE("an image that is not admitted, or has another label, is not started") {
    const FakePodman podman("exit 0");
    const std::atomic<bool> stop{false};
    LaunchOptions options = podman.options();
    options.allowed = {decode_digest("sha256:" + std::string(64, 'c'))};
    CHECK_THROWS_WITH_AS(launch(options, stop), doctest::Contains("--allow-image"), ImageError);
    CHECK(podman.text("calls").empty());
    options.allowed.push_back(decode_digest(kImageDigest));
    CHECK(launch(options, stop) == 0);
    options.environment.labels = {"cuda=12.5"};
    CHECK_THROWS_WITH_AS(launch(options, stop), doctest::Contains("cuda=12.4"), ImageError);
}

TEST_CASE("a podman that is missing or cannot start the worker is an error that says what to do") {
    const std::atomic<bool> stop{false};
    LaunchOptions missing = FakePodman("exit 0").options();
    missing.podman = "no-such-podman";
    CHECK_THROWS_WITH_AS(launch(missing, stop), doctest::Contains("install podman"), PodmanError);
    CHECK_THROWS_AS(launch(FakePodman("exit 125").options(), stop), PodmanError);
    CHECK_THROWS_WITH_AS(launch(FakePodman("exit 127").options(), stop), doctest::Contains("--program"), ImageError);
    const FakePodman failing("exit 0");
    std::filesystem::remove(failing.options().home / "list.json");
    CHECK_THROWS_WITH_AS(find_image(failing.options()), doctest::Contains("list.json"), PodmanError);
}

TEST_CASE("a stop reaches the worker as SIGTERM, and its exit status comes back") {
    const FakePodman podman(
        "trap 'echo ended >> calls; exit 0' TERM; echo runs >> calls; while true; do sleep 0.05; done"
    );
    CHECK(launch_and_stop(podman, podman.options()) == 0);
    CHECK(podman.text("calls").find("ended") != std::string::npos);
    CHECK(podman.text("calls").find("killed") == std::string::npos);
}

TEST_CASE("a worker that does not end in time is killed") {
    const FakePodman podman(
        "trap '' TERM; echo runs >> calls; while ! grep -q killed calls; do sleep 0.05; done; exit 137"
    );
    LaunchOptions options = podman.options();
    options.grace = std::chrono::seconds(0);
    CHECK(launch_and_stop(podman, options) == 137);
    CHECK(podman.text("calls").find("kill assay-worker-") != std::string::npos);
}

}  // namespace assay::launcher
