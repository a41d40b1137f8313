// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <verifier/engine/cell/collective.hpp>

namespace assay::engine {
namespace {

// What was sent and not received yet.
struct Mailboxes {
    explicit Mailboxes(std::uint32_t ranks) : is_gone(ranks) {}
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<Bytes>> boxes;  // by from, to, tag
    std::vector<bool> is_gone;                                                                   // by rank
};

class ThreadCollective final : public Collective {
  public:
    ThreadCollective(std::shared_ptr<Mailboxes> mailboxes, std::uint32_t rank, std::uint32_t size)
        : mailboxes_(std::move(mailboxes)), rank_(rank), size_(size) {}
    ~ThreadCollective() override {
        const std::scoped_lock lock(mailboxes_->mutex);
        mailboxes_->is_gone[rank_] = true;
        mailboxes_->arrived.notify_all();
    }

    std::uint32_t rank() const override { return rank_; }
    std::uint32_t size() const override { return size_; }

    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        count(to);
        std::unique_lock lock(mailboxes_->mutex);
        for (std::uint32_t other = 0; other < size_; ++other) {
            if (!to[other].empty()) {
                box(rank_, other, tag).push_back(std::move(to[other]));
            }
        }
        mailboxes_->arrived.notify_all();
        std::vector<Bytes> out(size_);
        for (std::uint32_t other = 0; other < size_; ++other) {
            if (expected[other] == 0) {
                continue;
            }
            std::deque<Bytes>& from = box(other, rank_, tag);
            mailboxes_->arrived.wait(lock, [&] { return !from.empty() || mailboxes_->is_gone[other]; });
            if (from.empty()) {
                throw RankError(other, RankFault::kGone, "a rank of the cell is gone");
            }
            out[other] = std::move(from.front());
            from.pop_front();
            if (out[other].size() != expected[other]) {
                throw RankError(other, RankFault::kOtherLength, "a rank of the cell sent a message of another length");
            }
        }
        return out;
    }
    void settle() override {}  // what is sent is in the other's box

  private:
    std::deque<Bytes>& box(std::uint32_t from, std::uint32_t to, std::uint32_t tag) {
        return mailboxes_->boxes[{from, to, tag}];
    }

    std::shared_ptr<Mailboxes> mailboxes_;
    std::uint32_t rank_;
    std::uint32_t size_;
};

}  // namespace

std::vector<std::unique_ptr<Collective>> connect_threads(std::uint32_t ranks) {
    const auto mailboxes = std::make_shared<Mailboxes>(ranks);
    std::vector<std::unique_ptr<Collective>> out;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.push_back(std::make_unique<ThreadCollective>(mailboxes, rank, ranks));
    }
    return out;
}

}  // namespace assay::engine
