// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/engine/links.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/cell/local_words.hpp>

/// What tests of links between ranks share.
namespace assay::cell::testing {

inline constexpr std::chrono::milliseconds kPatience{20'000};

using engine::LocalWords;

inline Bytes message_of(std::uint32_t from, std::uint32_t to, std::uint32_t tag) {
    Bytes out(1000 + 70'000 * tag + 11 * to);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<std::uint8_t>(i * 7 + from * 31 + to * 17 + tag);
    }
    return out;
}

inline void exchange_all(engine::Collective& collective) {
    const std::uint32_t size = collective.size();
    for (std::uint32_t tag = 0; tag < 4; ++tag) {
        std::vector<Bytes> to(size);
        std::vector<std::uint64_t> expected(size, 0);
        for (std::uint32_t other = 0; other < size; ++other) {
            if (other != collective.rank()) {
                to[other] = message_of(collective.rank(), other, tag);
                expected[other] = message_of(other, collective.rank(), tag).size();
            }
        }
        const std::vector<Bytes> from = collective.exchange(std::move(to), expected, tag);
        for (std::uint32_t other = 0; other < size; ++other) {
            CHECK(from[other] == (other == collective.rank() ? Bytes{} : message_of(other, collective.rank(), tag)));
        }
    }
    collective.settle();
}

/// Connects so many ranks by `connect`, each in a thread of its own, and has all of them exchange everything.
inline void check_exchanges(
    std::uint32_t ranks, const std::function<std::unique_ptr<engine::Collective>(std::uint32_t rank)>& connect
) {
    std::vector<std::string> failures(ranks);
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                exchange_all(*connect(rank));
            } catch (const std::runtime_error& error) {
                failures[rank] = error.what();
            }
        });
    }
    threads.clear();
    for (const std::string& failure : failures) {
        CHECK(failure == std::string());
    }
}

}  // namespace assay::cell::testing
