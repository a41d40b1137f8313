// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// Somebody between a validator's engine and its application.
namespace assay::demo {

/// Takes the connections that CometBFT makes to its application, and makes the same to the application. Requests pass as they
/// are. Of the answers, proposals get their first transaction a second time, and every proposal is said to be acceptable:
/// a dishonest validator votes for its own.
class AbciRelay {
  public:
    /// Listens at the socket file `own`; the application is at `application`, which need not exist yet. Of all proposals with
    /// transactions the first `count` are altered. Throws std::runtime_error.
    AbciRelay(std::filesystem::path own, std::filesystem::path application, std::uint64_t count);
    ~AbciRelay();
    AbciRelay(const AbciRelay&) = delete;
    AbciRelay& operator=(const AbciRelay&) = delete;

    /// How many proposals it has altered.
    std::uint64_t doubled() const { return doubled_; }
    /// As the engine takes it.
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
