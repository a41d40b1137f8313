// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// A relay between a validator's engine and its application.
namespace assay::demo {

/// Accepts the connections that CometBFT makes to its application and connects each to the real application. Requests
/// pass unchanged. In answers, the first transaction of a proposal is repeated, and every proposal is declared
/// acceptable: a dishonest validator votes for its own.
class AbciRelay {
  public:
    /// Listens at the socket file `own` and connects to the application at `application`, which need not exist yet.
    /// Alters the first `count` proposals that contain transactions. Throws std::runtime_error.
    AbciRelay(std::filesystem::path own, std::filesystem::path application, std::uint64_t count);
    ~AbciRelay();
    AbciRelay(const AbciRelay&) = delete;
    AbciRelay& operator=(const AbciRelay&) = delete;

    /// Returns the number of proposals that it has altered.
    std::uint64_t doubled() const { return doubled_; }
    /// Returns the address in the form that the engine takes.
    std::string address() const { return "unix://" + own_.string(); }

  private:
    struct Pipe {
        int engine = -1;
        int application = -1;
    };
    void accept();
    void carry_requests(Pipe pipe) const;
    void carry_answers(Pipe pipe);
    std::string altered(const std::string& message);

    std::filesystem::path own_;
    std::filesystem::path application_;
    std::uint64_t count_;
    int listener_ = -1;
    std::atomic<std::uint64_t> doubled_{0};
    std::atomic<bool> stopping_{false};
    std::mutex mutex_;
    std::vector<Pipe> pipes_;
    std::vector<std::thread> carriers_;
    std::thread accepting_;
};

}  // namespace assay::demo
