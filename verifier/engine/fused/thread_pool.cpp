// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/thread_pool.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>

namespace assay::engine::fused {

namespace {

// How many items a task has, and the next one that nobody has taken. They change together, so that who takes an item
// takes one of the task that is being worked on, however late it woke.
struct Ticket {
    std::uint32_t items = 0;
    std::uint32_t next = 0;
};
static_assert(std::atomic<Ticket>::is_always_lock_free);

constexpr std::size_t kMostItems = 0xffffffffU;

}  // namespace

struct ThreadPool::Shared {
    const std::function<void(std::size_t, std::size_t)>* task = nullptr;  // stays while an item of it is being done
    std::atomic<Ticket> ticket{};
    std::atomic<std::uint32_t> done{0};   // items
    std::atomic<std::uint64_t> round{0};  // a new one is a new task; the last one is the end
    std::atomic<bool> is_stopping{false};
    std::vector<std::thread> threads;

    void work(std::size_t thread) {
        Ticket seen = ticket.load();
        while (seen.next < seen.items) {
            if (!ticket.compare_exchange_weak(seen, {seen.items, seen.next + 1})) {
                continue;
            }
            (*task)(seen.next, thread);
            if (done.fetch_add(1) + 1 == seen.items) {
                done.notify_one();
            }
            seen = ticket.load();
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
    ASSERT(items <= kMostItems);
    const auto count = static_cast<std::uint32_t>(items);
    shared.task = &task;
    shared.done = 0;
    shared.ticket = Ticket{count, 0};
    ++shared.round;
    shared.round.notify_all();
    shared.work(0);
    // A thread that is still asleep has nothing to do with what is done: it is not waited for.
    for (int i = 0; i < Shared::kSpins && shared.done.load(std::memory_order_acquire) != count; ++i) {
    }
    for (std::uint32_t done = shared.done.load(); done != count; done = shared.done.load()) {
        shared.done.wait(done);
    }
}

void ThreadPool::check_environments() {
    // One item to a thread: each waits until all have one, so that no thread takes two.
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
