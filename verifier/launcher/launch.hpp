// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <contracts/state/environment.hpp>
#include <verifier/launcher/image.hpp>
#include <verifier/launcher/podman.hpp>

/// Starts a worker in a container (docs/operations/images.md).
namespace assay::launcher {

struct LaunchOptions {
    std::string podman = "podman";
    std::string reference{};               ///< name of a repository, to pull from; empty: none
    contracts::Environment environment{};  ///< with the image's digest, and the labels that it has to have
    std::vector<Hash256> allowed{};        ///< digests that the operator admits; none: the image's alone
    bool pulls = false;                    ///< whether the image is fetched if it is not there
    std::filesystem::path home{};          ///< of the worker; mounted at the same path
    std::string network = "host";
    std::vector<std::string> container_options{};  ///< further ones of `podman run`
    std::string program = "assay-worker";          ///< in the image
    std::vector<std::string> arguments{};          ///< of the worker: a subcommand and its options
    std::chrono::seconds grace{120};               ///< between SIGTERM and SIGKILL
};

/// Where the statement is in the container.
inline constexpr const char* kStatementPath = "/run/assay/environment.json";

/// Returns the command that starts the worker in the image with this id; `statement` is the file on this machine that
/// has what the worker states.
CommandLine run_command(
    const LaunchOptions& options, const std::string& id, const std::string& name, const std::filesystem::path& statement
);

/// Finds the image by its digest, pulls it first if that is asked for and it is not there, and checks what podman says
/// of it. Throws ImageError or PodmanError.
Image find_image(const LaunchOptions& options);

/// find_image(), then the worker in it until it ends or `stop` is set. Returns the worker's exit status. Throws
/// ImageError, PodmanError, also when podman cannot start the worker, and std::runtime_error if the statement cannot be
/// written.
int launch(const LaunchOptions& options, const std::atomic<bool>& stop);

}  // namespace assay::launcher
