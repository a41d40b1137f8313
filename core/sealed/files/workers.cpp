// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/files/workers.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::sealed {

void for_each_number(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work) {
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> failed{false};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&] {
        try {
            for (std::uint64_t i = next++; i < count && !failed; i = next++) {
                work(i);
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            failed = true;
        }
    };
    const std::uint64_t helpers = std::min<std::uint64_t>(std::max(1U, threads), std::max<std::uint64_t>(1, count)) - 1;
    {
        // Joined at the end of the block, also if a thread cannot be started.
        std::vector<std::jthread> started;
        started.reserve(helpers);
        for (std::uint64_t i = 0; i < helpers; ++i) {
            started.emplace_back(run);
        }
        run();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace assay::sealed
