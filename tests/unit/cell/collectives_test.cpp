// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/cell/link_doubles.hpp>
#include <verifier/cell/tls_collective.hpp>
#include <verifier/engine/cell/gloo_collective.hpp>

/// What every Collective promises, by every kind of link: by NCCL alone with ASSAY_TEST_LINKS=nccl, on machines with
/// GPUs.
using namespace assay;
using namespace assay::cell::testing;
using engine::Collective;
using std::chrono::milliseconds;

namespace {

struct Kind {
    std::string name;
    test::Connect (*connect)(std::uint32_t ranks, milliseconds patience);
    bool has_patience = true;  ///< it gives up a rank that is silent
    bool tells_length = true;  ///< a message of another length is its sender's fault
};

test::Connect by_threads(std::uint32_t ranks, milliseconds /*patience*/) {
    const auto all = std::make_shared<std::vector<std::unique_ptr<Collective>>>(engine::connect_threads(ranks));
    return [all](std::uint32_t rank) { return std::move((*all)[rank]); };
}

test::Connect by_tls(std::uint32_t ranks, milliseconds patience) {
    const auto words = std::make_shared<LocalWords>();
    return [=](std::uint32_t rank) {
        Hash256 key;
        key.data.fill(7);
        return cell::connect_tls(*words, {.rank = rank, .size = ranks, .key = key, .timeout = patience});
    };
}

test::Connect by_gloo(std::uint32_t ranks, milliseconds patience) {
    const auto words = std::make_shared<LocalWords>();
    return [=](std::uint32_t rank) {
        return engine::connect_gloo(words, {.rank = rank, .size = ranks, .timeout = patience});
    };
}

std::vector<Kind> kinds() {
    if (test::test_links() == "nccl") {
        return {{"nccl", test::connect_by_nccl}};
    }
    return {
        {"threads", by_threads, false},
        {"tls", by_tls},
        {"gloo", by_gloo, true, false},
        {"ordered", test::connect_ordered}};
}

// Words that take a rank long to read.
class SlowWords final : public LocalWords {
  public:
    explicit SlowWords(std::shared_ptr<LocalWords> words) : words_(std::move(words)) {}
    void set(const std::string& key, const Bytes& value) override { words_->set(key, value); }
    Bytes get(const std::string& key) override {
        std::this_thread::sleep_for(milliseconds(50));
        return words_->get(key);
    }

  private:
    std::shared_ptr<LocalWords> words_;
};

// So many ranks, or as many as there are GPUs.
std::uint32_t ranks_of(std::uint32_t wanted) { return std::min(wanted, test::linked_ranks_max()); }

// Every rank does `work` in a thread of its own.
template <class Work>
void with_ranks(std::uint32_t ranks, const test::Connect& connect, const Work& work) {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                work(*connect(rank));
            } catch (const std::runtime_error& error) {
                FAIL_CHECK("rank ", rank, ": ", std::string(error.what()));
            }
        });
    }
}

// Rank 1 does `work` while rank 0, which needs a message of 10 bytes from it, waits. Returns rank 0's error.
template <class Work>
std::string error_of_first(const test::Connect& connect, const Work& work) {
    std::string out;
    std::atomic<bool> is_over{false};
    const std::jthread second([&] {
        const auto collective = connect(1);
        work(*collective, is_over);
    });
    const auto collective = connect(0);
    try {
        collective->exchange({{}, {}}, {0, 10}, 0);
    } catch (const std::runtime_error& error) {
        out = error.what();
    }
    is_over = true;
    return out;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    Bytes out(values.size() * sizeof(T));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}
template <class T>
std::vector<T> values_of(const Bytes& bytes) {
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

// The smallest and largest values, and some that no double has.
template <class T>
std::vector<T> extremes(std::uint32_t rank) {
    std::vector<T> out{std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1, static_cast<T>(-1)};
    for (unsigned i = 0; i < 1'000; ++i) {
        out.push_back(static_cast<T>(0x9e3779b97f4a7c15ULL * (i + 1'000 * rank + 1)));
    }
    return out;
}

// Each rank has everybody's values, and adds them up and takes maxima as the ranks of a cell do.
template <class T>
void check_integers(Collective& collective) {
    const std::uint32_t size = collective.size();
    const std::uint32_t rank = collective.rank();
    const Bytes own = bytes_of(extremes<T>(rank));
    std::vector<Bytes> to(size, own);
    std::vector<std::uint64_t> expected(size, own.size());
    to[rank].clear();
    expected[rank] = 0;
    std::vector<Bytes> all = collective.exchange(std::move(to), expected, sizeof(T));
    all[rank] = own;
    std::vector<std::uint64_t> sums(extremes<T>(0).size());
    std::vector<T> most(sums.size(), std::numeric_limits<T>::min());
    std::vector<std::uint64_t> right_sums = sums;
    std::vector<T> right_most = most;
    for (std::uint32_t other = size; other-- > 0;) {
        const std::vector<T> values = values_of<T>(all[other]);
        const std::vector<T> right = extremes<T>(other);
        REQUIRE(values.size() == sums.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += static_cast<std::uint64_t>(values[i]);
            most[i] = std::max(most[i], values[i]);
            right_sums[i] += static_cast<std::uint64_t>(right[i]);
            right_most[i] = std::max(right_most[i], right[i]);
        }
    }
    CHECK(sums == right_sums);
    CHECK(most == right_most);
    collective.settle();
}

}  // namespace

TEST_CASE("collectives: ranks exchange what they send, each tag in its order") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const std::uint32_t ranks = ranks_of(4);
        check_exchanges(ranks, kind.connect(ranks, kPatience));
    }
}

TEST_CASE("collectives: integers of every width cross as they are") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const std::uint32_t ranks = ranks_of(3);
        with_ranks(ranks, kind.connect(ranks, kPatience), [](Collective& collective) {
            check_integers<std::uint8_t>(collective);
            check_integers<std::int32_t>(collective);
            check_integers<std::int64_t>(collective);
        });
    }
}

TEST_CASE("collectives: messages are asked for in another order of tags than they were sent in") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        with_ranks(2, kind.connect(2, kPatience), [](Collective& collective) {
            const std::uint32_t other = 1 - collective.rank();
            for (const std::uint32_t tag : {1U, 2U, 1U, 3U}) {
                std::vector<Bytes> to(2);
                to[other] = message_of(collective.rank(), other, tag);
                collective.exchange(std::move(to), {0, 0}, tag);
            }
            for (const std::uint32_t tag : {3U, 1U, 2U, 1U}) {
                std::vector<std::uint64_t> expected(2);
                expected[other] = message_of(other, collective.rank(), tag).size();
                CHECK(
                    collective.exchange(std::vector<Bytes>(2), expected, tag)[other] ==
                    message_of(other, collective.rank(), tag)
                );
            }
            collective.settle();
            CHECK(collective.sent_bytes() > 0);
        });
    }
}

TEST_CASE("collectives: a rank that leaves with all that it needs keeps nobody from sending to others") {
    constexpr std::size_t kBytes = std::size_t{48} << 20U;  // on its way for longer than the other takes to leave
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const std::uint32_t ranks = ranks_of(3);
        with_ranks(ranks, kind.connect(ranks, kPatience), [ranks](Collective& collective) {
            std::vector<Bytes> to(ranks);
            std::vector<std::uint64_t> expected(ranks);
            const std::uint32_t last = ranks - 1;
            if (collective.rank() == 0) {
                to[last].resize(kBytes, 5);
            } else if (collective.rank() == last) {
                expected[0] = kBytes;
            }
            const auto from = collective.exchange(std::move(to), expected, 1);
            CHECK(from[0] == Bytes(expected[0], 5));
            collective.settle();
        });
    }
}

TEST_CASE("collectives: gloo connects a rank that is late, though the other needs nothing and leaves") {
    if (test::test_links() == "nccl") {
        return;
    }
    // Which of two ranks waits for the other one's connection is chance.
    for (unsigned round = 0; round < 10; ++round) {
        const auto words = std::make_shared<LocalWords>();
        const std::jthread other([&] { engine::connect_gloo(words, {.rank = 1, .size = 2, .timeout = kPatience}); });
        CHECK_NOTHROW(
            engine::connect_gloo(std::make_shared<SlowWords>(words), {.rank = 0, .size = 2, .timeout = kPatience})
        );
    }
}

TEST_CASE("collectives: messages larger than any buffer cross both ways at once") {
    constexpr std::size_t kBytes = (std::size_t{17} << 20U) + 1;
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        with_ranks(2, kind.connect(2, kPatience), [](Collective& collective) {
            const std::uint32_t other = 1 - collective.rank();
            std::vector<Bytes> to(2);
            to[other].resize(kBytes, static_cast<std::uint8_t>(collective.rank()));
            to[other].back() = 77;
            std::vector<std::uint64_t> expected(2);
            expected[other] = kBytes;
            Bytes right(kBytes, static_cast<std::uint8_t>(other));
            right.back() = 77;
            CHECK((collective.exchange(std::move(to), expected, 5)[other] == right));
            collective.settle();
        });
    }
}

TEST_CASE("collectives: a rank that is gone ends the exchange with it") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const std::string error =
            error_of_first(kind.connect(2, milliseconds(5'000)), [](Collective&, const std::atomic<bool>&) {});
        CHECK(error.starts_with("a rank of the cell is gone"));
    }
}

TEST_CASE("collectives: a rank that is silent ends the exchange with it, where links give it up") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        if (!kind.has_patience) {
            continue;
        }
        const std::string error =
            error_of_first(kind.connect(2, milliseconds(300)), [](Collective&, const std::atomic<bool>& is_over) {
                while (!is_over) {
                    std::this_thread::sleep_for(milliseconds(10));
                }
            });
        CHECK(error.starts_with("a rank of the cell is gone or too slow"));
    }
}

TEST_CASE("collectives: a message of another length is refused, where links tell it") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        if (!kind.tells_length) {
            continue;
        }
        const std::string error =
            error_of_first(kind.connect(2, kPatience), [](Collective& collective, const std::atomic<bool>& is_over) {
                collective.exchange({{1, 2, 3}, {}}, {0, 0}, 0);
                while (!is_over) {
                    std::this_thread::sleep_for(milliseconds(10));
                }
            });
        CHECK(error.find("of the cell") != std::string::npos);
    }
}
