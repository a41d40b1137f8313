// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::e2e {

/// assayd as a child process. Killed by the destructor.
class Daemon {
  public:
    /// Runs `assayd arguments...`; stdout and stderr go to files under `logs`.
    Daemon(const std::vector<std::string>& arguments, const std::filesystem::path& logs);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// What the ready line says.
    struct Ready {
        std::uint64_t height = 0;
        std::string url;
    };
    /// nullopt when the process ended or the time passed without one.
    std::optional<Ready> await_ready(std::chrono::milliseconds timeout);
    void signal(int number) const;
    /// The exit code, 128 + signal for a killed process; nullopt when it still runs after `timeout`.
    std::optional<int> await_exit(std::chrono::milliseconds timeout);
    std::string out() const;
    std::string err() const;

  private:
    std::filesystem::path logs_;
    pid_t pid_ = -1;
    std::optional<int> exit_;
};

}  // namespace assay::e2e
