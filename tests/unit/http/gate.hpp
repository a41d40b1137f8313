// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace assay::http::test {

/// Holds handlers until a test opens it, so that the test knows what is in progress.
class Gate {
  public:
    /// Opens it when a test ends, however it does. Declared after the server, which waits for its handlers.
    struct Opener {
        explicit Opener(Gate& of) : gate(of) {}
        ~Opener() { gate.open(); }
        Opener(const Opener&) = delete;
        Opener& operator=(const Opener&) = delete;
        Gate& gate;
    };

    void pass() {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    /// Whether `count` have come within the time of a slow machine.
    bool wait_for(int count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return arrived_ >= count; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int arrived_ = 0;
    bool is_open_ = false;
};

}  // namespace assay::http::test
