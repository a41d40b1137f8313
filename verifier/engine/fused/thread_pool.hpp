// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace assay::engine::fused {

/// Threads that share the work of one stage at a time. Each checks its floating-point environment when it starts and
/// on check_environments() (NUM-3).
class ThreadPool {
  public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::size_t size() const;
    /// Calls task(item, thread) for each item below `items`, on any thread below size(), and returns when all are done.
    /// The task does not throw.
    void run(std::size_t items, const std::function<void(std::size_t item, std::size_t thread)>& task);
    /// Throws std::runtime_error when a thread does not compute as IEEE 754 asks.
    void check_environments();

  private:
    struct Shared;
    std::unique_ptr<Shared> shared_;
};

}  // namespace assay::engine::fused
