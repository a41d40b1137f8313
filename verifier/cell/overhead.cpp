// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/overhead.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <core/crypto/random.hpp>
#include <verifier/cell/tls_collective.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/local_words.hpp>

namespace assay::cell {
namespace {

constexpr std::size_t kLongMessage = std::size_t{2} << 20U;  // as plan::GroupLimits has it
constexpr std::size_t kShortMessage = 16;
constexpr std::uint32_t kSumWidth = 5;  // bytes of a sum of products of 16 bits
constexpr std::size_t kSums = kLongMessage / kSumWidth;
constexpr std::uint64_t kFirstRounds = 8;

double seconds_of_clock(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double process_seconds() { return seconds_of_clock(CLOCK_PROCESS_CPUTIME_ID); }
double thread_seconds() { return seconds_of_clock(CLOCK_THREAD_CPUTIME_ID); }

// Two ranks that are threads.
class Pair {
  public:
    Pair() {
        Hash256 key;
        crypto::fill_random(key.data);
        run([&](std::uint32_t rank) { ranks_[rank] = connect_tls(words_, {.rank = rank, .size = 2, .key = key}); });
    }

    // Seconds of the processor that both take to send each other so many messages.
    double exchange(std::size_t bytes, std::uint64_t rounds) {
        std::array<double, 2> made{};  // seconds for the messages themselves
        const double begin = process_seconds();
        run([&](std::uint32_t rank) {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                const double before = thread_seconds();
                std::vector<Bytes> to(2);
                to[1 - rank] = Bytes(bytes, 0x5a);
                std::vector<std::uint64_t> expected(2);
                expected[1 - rank] = bytes;
                made[rank] += thread_seconds() - before;
                ranks_[rank]->exchange(std::move(to), expected, 1);
            }
            ranks_[rank]->settle();
        });
        return std::max(0.0, process_seconds() - begin - made[0] - made[1]);
    }

  private:
    template <class Work>
    void run(Work work) {
        std::array<std::exception_ptr, 2> errors{};
        {
            std::array<std::jthread, 2> threads{};
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                threads[rank] = std::jthread([&, rank] {
                    try {
                        work(rank);
                    } catch (...) {
                        errors[rank] = std::current_exception();
                    }
                });
            }
        }
        for (const std::exception_ptr& error : errors) {
            if (error != nullptr) {
                std::rethrow_exception(error);
            }
        }
    }

    engine::LocalWords words_;
    std::array<std::unique_ptr<engine::Collective>, 2> ranks_{};
};

// Seconds of the processor for each message at one of its ends. A round has two messages.
double seconds_of_message(Pair& pair, std::size_t bytes, double seconds) {
    pair.exchange(bytes, kFirstRounds);  // connections begin slowly
    const double first = pair.exchange(bytes, kFirstRounds) / kFirstRounds;
    const auto rounds = static_cast<std::uint64_t>(std::clamp(seconds / std::max(first, 1e-6), 1.0, 1e5));
    return pair.exchange(bytes, rounds) / (4.0 * static_cast<double>(rounds));
}

// The same of packing sums, or adding them up: for each byte.
double seconds_of_sum_byte(double seconds) {
    std::vector<std::int64_t> values(kSums);
    for (std::size_t i = 0; i < kSums; ++i) {
        values[i] = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(kSums / 2);
    }
    std::uint64_t rounds = 0;
    double spent = 0.0;
    for (const double begin = thread_seconds(); rounds == 0 || spent < seconds; ++rounds) {
        Bytes packed;
        packed.reserve(kSums * kSumWidth);
        engine::cell::append_narrow(values.data(), kSums, kSumWidth, packed);
        std::vector<std::int64_t> sums(kSums);
        engine::cell::add_narrow(packed, kSumWidth, sums.data());
        values[rounds % kSums] = sums[0];
        spent = thread_seconds() - begin;
    }
    return spent / static_cast<double>(2 * rounds * kSums * kSumWidth);
}

}  // namespace

MeasuredOverhead measure_overhead(double seconds) {
    Pair pair;
    MeasuredOverhead out;
    out.message_s = seconds_of_message(pair, kShortMessage, seconds / 4.0);
    const double of_long = seconds_of_message(pair, kLongMessage, seconds / 2.0);
    out.byte_s = std::max(0.0, of_long - out.message_s) / static_cast<double>(kLongMessage);
    out.sum_byte_s = seconds_of_sum_byte(seconds / 4.0);
    return out;
}

std::string host_id() {
    std::string out;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> out;
    return out;
}

std::uint32_t core_count() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace assay::cell
