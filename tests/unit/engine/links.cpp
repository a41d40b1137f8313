// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/links.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include <verifier/engine/cell/local_words.hpp>
#include <verifier/engine/cell/nccl_collective.hpp>
#include <verifier/engine/cell/ordered_collective.hpp>
#include <verifier/plan/index_set.hpp>

namespace assay::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCellPatience{60'000};

// What ranks offer each other.
struct Offers {
    explicit Offers(std::uint32_t ranks) : is_gone(ranks) {}
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::pair<std::uint32_t, std::uint32_t>, ByteView> offered;  // by sender and receiver
    std::vector<bool> is_gone;                                            // by rank
};

class OfferLinks final : public engine::cell::OrderedLinks {
  public:
    OfferLinks(std::shared_ptr<Offers> offers, std::uint32_t rank, milliseconds patience)
        : offers_(std::move(offers)), rank_(rank), patience_(patience) {}

    void send(std::uint32_t to, ByteView bytes) override {
        std::unique_lock lock(offers_->mutex);
        const std::pair link{rank_, to};
        offers_->offered[link] = bytes;
        offers_->changed.notify_all();
        offers_->changed.wait(lock, [&] {
            return !offers_->offered.contains(link) || offers_->is_gone[rank_] || offers_->is_gone[to];
        });
        if (offers_->offered.erase(link) != 0) {
            throw std::runtime_error("it left");
        }
    }
    void receive(std::uint32_t from, std::span<std::uint8_t> out) override {
        std::unique_lock lock(offers_->mutex);
        const std::pair link{from, rank_};
        const bool is_over = offers_->changed.wait_for(lock, patience_, [&] {
            return offers_->offered.contains(link) || offers_->is_gone[rank_] || offers_->is_gone[from];
        });
        const auto found = offers_->offered.find(link);
        if (offers_->is_gone[rank_] || found == offers_->offered.end()) {
            throw std::runtime_error(is_over ? "it left" : "it sends nothing");
        }
        if (found->second.size() != out.size()) {
            throw std::runtime_error("it sends another number of bytes");
        }
        std::copy(found->second.begin(), found->second.end(), out.begin());
        offers_->offered.erase(found);
        offers_->changed.notify_all();
    }
    void abort() noexcept override {
        const std::scoped_lock lock(offers_->mutex);
        offers_->is_gone[rank_] = true;
        offers_->changed.notify_all();
    }
    void close() noexcept override { abort(); }  // what was sent was received

  private:
    std::shared_ptr<Offers> offers_;
    std::uint32_t rank_;
    milliseconds patience_;
};

// Before any case: CTest takes what this prints as the reason to skip the test.
const bool kHasLinks = [] {
    if (const auto refusal = engine::nccl_refusal(engine::nccl_support(), 1); refusal && test_links() == "nccl") {
        std::printf("skipped: %s\n", refusal->c_str());
        std::exit(0);
    }
    return true;
}();

}  // namespace

Connect connect_ordered(std::uint32_t ranks, milliseconds patience) {
    const auto offers = std::make_shared<Offers>(ranks);
    return [=](std::uint32_t rank) {
        return engine::cell::make_ordered_collective(
            std::make_unique<OfferLinks>(offers, rank, patience), {.rank = rank, .size = ranks, .timeout = patience}
        );
    };
}

Connect connect_by_nccl(std::uint32_t ranks, milliseconds patience) {
    engine::prepare_nccl();
    const auto words = std::make_shared<engine::LocalWords>(kCellPatience);
    return [=](std::uint32_t rank) {
        return engine::connect_nccl(words, {.rank = rank, .size = ranks, .gpu = rank, .timeout = patience});
    };
}

std::string test_links() {
    const char* const links = std::getenv("ASSAY_TEST_LINKS");
    return links == nullptr ? "threads" : links;
}

std::uint32_t linked_ranks_max() {
    return test_links() == "nccl" ? std::min(engine::nccl_support().gpus, plan::kMaxRanks) : plan::kMaxRanks;
}

std::vector<std::unique_ptr<engine::Collective>> connect_cell(std::uint32_t ranks) {
    if (test_links() == "threads") {
        return engine::connect_threads(ranks);
    }
    const Connect connect =
        test_links() == "nccl" ? connect_by_nccl(ranks, kCellPatience) : connect_ordered(ranks, kCellPatience);
    std::vector<std::unique_ptr<engine::Collective>> out(ranks);
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] { out[rank] = connect(rank); });
    }
    threads.clear();
    return out;
}

std::string device_of(std::uint32_t rank) { return test_links() == "nccl" ? "cuda:" + std::to_string(rank) : "cpu"; }

}  // namespace assay::test
