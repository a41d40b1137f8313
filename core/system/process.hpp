// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace assay::system {

/// A child process. Its standard output is read line by line on a separate thread; standard error goes to a log file.
/// The destructor stops the child; the child also gets SIGTERM when this process dies.
class Process {
  public:
    using LineHandler = std::function<void(const std::string& line)>;

    /// Throws std::runtime_error if the program cannot be started.
    Process(
        std::string name, std::vector<std::string> arguments, const std::filesystem::path& log, LineHandler on_line
    );
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    const std::string& name() const { return name_; }
    const std::filesystem::path& log() const { return log_; }
    pid_t pid() const { return pid_; }
    /// The exit status if the child has ended (128 + signal number if it was killed); nullopt while it runs.
    std::optional<int> exit_status();
    /// Sends SIGTERM, and SIGKILL if the child still runs after `grace`. Returns the exit status.
    int stop(std::chrono::milliseconds grace = std::chrono::seconds(5));
    /// Sends SIGKILL immediately.
    void kill();

  private:
    std::string name_;
    std::filesystem::path log_;
    pid_t pid_ = -1;
    std::optional<int> status_;
    std::thread reader_;
};

}  // namespace assay::system
