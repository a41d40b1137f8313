// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/thread_pool.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>

namespace assay::engine::fused {

struct ThreadPool::Shared {
    const std::function<void(std::size_t, std::size_t)>* task = nullptr;
    std::size_t items = 0;
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> round{0};  // a new one is a new task; the last one is the end
    std::atomic<std::size_t> busy{0};
    std::atomic<bool> is_stopping{false};
    std::vector<std::thread> threads;

    void work(std::size_t thread) {
        for (std::size_t item = next.fetch_add(1); item < items; item = next.fetch_add(1)) {
            (*task)(item, thread);
        }
    }

    void serve(std::size_t thread) {
        std::uint64_t seen = 0;
        for (;;) {
            // Stages follow each other within microseconds, so it is worth looking a while before sleeping.
            for (int i = 0; i < kSpins && round.load(std::memory_order_acquire) == seen; ++i) {
            }
            round.wait(seen);
            seen = round.load();
            if (is_stopping.load()) {
                return;
            }
            work(thread);
            if (busy.fetch_sub(1) == 1) {
                busy.notify_one();
            }
        }
    }

    static constexpr int kSpins = 2000;
};

ThreadPool::ThreadPool(int threads) : shared_(std::make_unique<Shared>()) {
    ASSERT(threads >= 1);
    for (int i = 1; i < threads; ++i) {
        shared_->threads.emplace_back([shared = shared_.get(), i] { shared->serve(static_cast<std::size_t>(i)); });
    }
}

ThreadPool::~ThreadPool() {
    shared_->is_stopping = true;
    ++shared_->round;
    shared_->round.notify_all();
    for (std::thread& thread : shared_->threads) {
        thread.join();
    }
}

std::size_t ThreadPool::size() const { return shared_->threads.size() + 1; }

void ThreadPool::run(std::size_t items, const std::function<void(std::size_t, std::size_t)>& task) {
    Shared& shared = *shared_;
    if (items <= 1 || shared.threads.empty()) {
        for (std::size_t item = 0; item < items; ++item) {
            task(item, 0);
        }
        return;
    }
    shared.task = &task;
    shared.items = items;
    shared.next = 0;
    shared.busy = shared.threads.size();
    ++shared.round;
    shared.round.notify_all();
    shared.work(0);
    for (int i = 0; i < Shared::kSpins && shared.busy.load(std::memory_order_acquire) != 0; ++i) {
    }
    for (std::size_t left = shared.busy.load(); left != 0; left = shared.busy.load()) {
        shared.busy.wait(left);
    }
}

void ThreadPool::check_environments() {
    // One item to a thread: each waits until all have one.
    const std::size_t count = size();
    std::atomic<std::size_t> arrived{0};
    std::atomic<bool> is_canonical{true};
    run(count, [&](std::size_t, std::size_t) {
        ++arrived;
        while (arrived.load() < count) {
            std::this_thread::yield();
        }
        if (!canonical::floating_point_is_canonical()) {
            is_canonical = false;
        }
    });
    if (!is_canonical) {
        throw std::runtime_error("engine: a thread does not round to nearest, or flushes denormals to zero");
    }
}

}  // namespace assay::engine::fused
