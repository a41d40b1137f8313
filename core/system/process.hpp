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

/// A child process whose standard output is read line by line on a thread of its own; standard error goes to a log
/// file. Stops the child when destroyed; the child also gets SIGTERM when this process dies.
class Process {
  public:
    using LineHandler = std::function<void(const std::string& line)>;

    /// Throws std::runtime_error when the program cannot be started.
    Process(std::string name, std::vector<std::string> arguments, const std::filesystem::path& log, LineHandler on_line);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    const std::string& name() const { return name_; }
    const std::filesystem::path& log() const { return log_; }
    pid_t pid() const { return pid_; }
    /// The exit status once it has ended (128 + signal when it was killed).
    std::optional<int> exit_status();
    /// SIGTERM, then SIGKILL after `grace`. Returns the exit status.
    int stop(std::chrono::milliseconds grace = std::chrono::seconds(5));
    /// SIGKILL at once.
    void kill();

  private:
    std::string name_;
    std::filesystem::path log_;
    pid_t pid_ = -1;
    std::optional<int> status_;
    std::thread reader_;
};

}  // namespace assay::system
