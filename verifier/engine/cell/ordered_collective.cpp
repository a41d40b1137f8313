// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/ordered_collective.hpp>

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <core/base/fields.hpp>
#include <core/codec/borsh.hpp>

namespace assay::engine::cell {
namespace {

constexpr std::chrono::seconds kFlush{5};
constexpr std::uint64_t kMessageMax = std::uint64_t{1} << 40U;  // more is no length

// In front of each message.
struct Header {
    std::uint32_t tag = 0;
    std::uint64_t length = 0;
    static constexpr auto fields() { return Fields<&Header::tag, &Header::length>{}; }
};
constexpr std::size_t kHeaderBytes = 12;

class OrderedCollective final : public Collective {
  public:
    OrderedCollective(std::unique_ptr<OrderedLinks> links, const OrderedOptions& options)
        : links_(std::move(links)), options_(options), outboxes_(options.size), early_(options.size) {
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            if (other != options_.rank) {
                senders_.emplace_back([this, other] { send_all(other); });
            }
        }
    }
    OrderedCollective(const OrderedCollective&) = delete;
    OrderedCollective& operator=(const OrderedCollective&) = delete;
    ~OrderedCollective() override {
        bool is_whole = false;
        {
            std::unique_lock lock(mutex_);
            const bool is_sent = changed_.wait_for(lock, kFlush, [&] { return unsent_ == 0 || first_gone_; });
            is_whole = is_sent && !first_gone_;
            is_ending_ = true;
        }
        wanted_.notify_all();
        if (is_whole) {
            links_->close();
        } else {
            links_->abort();
        }
        for (std::thread& sender : senders_) {
            sender.join();
        }
    }

    std::uint32_t rank() const override { return options_.rank; }
    std::uint32_t size() const override { return options_.size; }

    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        count(to);
        {
            const std::scoped_lock lock(mutex_);
            for (std::uint32_t other = 0; other < options_.size; ++other) {
                if (!to[other].empty()) {
                    outboxes_[other].push_back({tag, std::move(to[other])});
                    ++unsent_;
                }
            }
        }
        wanted_.notify_all();
        std::vector<Bytes> out(options_.size);
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            if (expected[other] != 0) {
                out[other] = receive(other, tag, expected[other]);
            }
        }
        return out;
    }

    void settle() override {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, options_.timeout, [&] { return unsent_ == 0 || first_gone_; });
        if (unsent_ == 0) {
            return;
        }
        if (!first_gone_) {
            std::uint32_t slow = 0;
            while (outboxes_[slow].empty()) {
                ++slow;
            }
            first_gone_ = {slow, "it does not take what was sent"};
            lock.unlock();
            links_->abort();
        }
        throw lost();
    }

  private:
    struct Message {
        std::uint32_t tag;
        Bytes bytes;
    };
    struct Gone {
        std::uint32_t rank;
        std::string why;
    };

    // What a sender does until the end.
    void send_all(std::uint32_t other) {
        std::unique_lock lock(mutex_);
        std::deque<Message>& outbox = outboxes_[other];
        for (;;) {
            wanted_.wait(lock, [&] { return is_ending_ || !outbox.empty(); });
            if (outbox.empty() || first_gone_) {
                return;
            }
            const Message& message = outbox.front();  // stays there until it is sent: only this thread removes it
            lock.unlock();
            try {
                links_->send(other, codec::encode(Header{.tag = message.tag, .length = message.bytes.size()}));
                links_->send(other, message.bytes);
            } catch (const std::exception& error) {
                note_gone(other, error.what());
                return;
            }
            lock.lock();
            outbox.pop_front();
            --unsent_;
            changed_.notify_all();
        }
    }

    Bytes receive(std::uint32_t other, std::uint32_t tag, std::uint64_t size) {
        std::deque<Bytes>& waiting = early_[other][tag];
        try {
            while (waiting.empty()) {
                Message next = take(other);
                early_[other][next.tag].push_back(std::move(next.bytes));
            }
        } catch (const std::exception& error) {
            note_gone(other, error.what());
            throw lost();
        }
        Bytes out = std::move(waiting.front());
        waiting.pop_front();
        if (out.size() != size) {
            throw RankError(
                other, RankFault::kOtherLength,
                "rank " + std::to_string(other) + " of the cell sends " + std::to_string(out.size()) +
                    " bytes in place of " + std::to_string(size)
            );
        }
        return out;
    }

    // The next message of a rank, whatever its tag.
    Message take(std::uint32_t other) {
        std::array<std::uint8_t, kHeaderBytes> bytes{};
        links_->receive(other, bytes);
        const auto header = codec::decode<Header>(bytes).value();  // any 12 bytes are one
        if (header.length > kMessageMax) {
            throw std::runtime_error("it sends a message of " + std::to_string(header.length) + " bytes");
        }
        Message out{header.tag, Bytes(header.length)};
        links_->receive(other, out.bytes);
        return out;
    }

    // Of several that are gone, the others left because of the first.
    void note_gone(std::uint32_t other, const std::string& why) {
        {
            const std::scoped_lock lock(mutex_);
            if (!first_gone_) {
                first_gone_ = {other, why};
            }
        }
        changed_.notify_all();
        links_->abort();
    }

    RankError lost() const {
        return RankError(
            first_gone_->rank, RankFault::kGone,
            "a rank of the cell is gone or too slow: rank " + std::to_string(first_gone_->rank) + ": " +
                first_gone_->why
        );
    }

    std::unique_ptr<OrderedLinks> links_;
    OrderedOptions options_;
    std::mutex mutex_;
    std::condition_variable wanted_;                                 // there is something to send, or the end has come
    std::condition_variable changed_;                                // something was sent, or a rank is gone
    std::vector<std::deque<Message>> outboxes_;                      // by rank; the first may be on its way
    std::vector<std::map<std::uint32_t, std::deque<Bytes>>> early_;  // by rank and tag: came before it was asked for
    std::size_t unsent_ = 0;
    bool is_ending_ = false;
    std::optional<Gone> first_gone_;  // never changes once it is set
    std::vector<std::thread> senders_;
};

}  // namespace

std::unique_ptr<Collective> make_ordered_collective(
    std::unique_ptr<OrderedLinks> links, const OrderedOptions& options
) {
    return std::make_unique<OrderedCollective>(std::move(links), options);
}

}  // namespace assay::engine::cell
