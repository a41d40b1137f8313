// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::launcher {

/// Podman cannot be started, or has failed. what() has the end of what it wrote to standard error.
class PodmanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A command of podman: the program, then its arguments. The program is looked for in $PATH if it has no slash.
using CommandLine = std::vector<std::string>;

/// Runs a command to its end and returns what it writes to standard output. Throws PodmanError if it cannot be started
/// or ends with another status than 0.
std::string output_of(const CommandLine& command);

/// What follow() does when it is told to stop.
struct Stopping {
    const std::atomic<bool>& requested;
    std::chrono::seconds grace{120};  ///< between SIGTERM and `kill`
    CommandLine kill;                 ///< ends the container at once
};

/// Runs a command with the standard streams of this process until it ends, and returns its exit status: 128 and the
/// signal's number if a signal ended it. When a stop is requested it gets SIGTERM, which podman hands to the container;
/// if it still runs after the grace, `kill` is run. Throws PodmanError if it cannot be started.
int follow(const CommandLine& command, const Stopping& stopping);

}  // namespace assay::launcher
