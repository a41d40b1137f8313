// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace assay::engine::fused {

/// A pool of threads that work on one stage at a time. Each checks its floating-point environment at its start and in
/// check_environments() (NUM-3).
class ThreadPool {
  public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::size_t size() const;
    /// Calls task(item, thread) for each item < `items`, on any thread < size(), and returns when all calls are done.
    /// The task must not throw.
    void run(std::size_t items, const std::function<void(std::size_t item, std::size_t thread)>& task);
    /// Throws std::runtime_error if a thread's floating-point environment is not that of IEEE 754 as required.
    void check_environments();

  private:
    struct Shared;
    std::unique_ptr<Shared> shared_;
};

}  // namespace assay::engine::fused
