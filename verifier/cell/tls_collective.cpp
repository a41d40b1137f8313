// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/tls_collective.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio.hpp>

#include <client/http/own_certificate.hpp>
#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/cell/account_links.hpp>
#include <verifier/cell/greeted.hpp>
#include <verifier/cell/link_frames.hpp>
#include <verifier/cell/link_inbox.hpp>
#include <verifier/cell/psk.hpp>
#include <verifier/cell/tls_link.hpp>
#include <verifier/cell/unsent.hpp>

namespace assay::cell {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using LinkClock = std::chrono::steady_clock;
using Stream = TlsStream;
using Link = TlsLink;
using Outgoing = TlsLink::Outgoing;

constexpr std::chrono::seconds kHandshake{10};
constexpr std::chrono::seconds kFlush{5};
constexpr std::chrono::milliseconds kLook{100};         // whether the rank shall go on waiting
constexpr std::chrono::milliseconds kAcceptAgain{100};  // after a connection could not be accepted
constexpr std::size_t kPartBytes = 65'536;              // of a message that comes: as much is shown at a time
constexpr std::size_t kShortBytes = 16'000;             // fits into one record of TLS with what is before and after it

class TlsCollective final : public engine::Collective {
  public:
    explicit TlsCollective(const TlsOptions& options)
        : options_(options),
          context_(options.accounts ? http::make_own_certificate_context() : make_psk_context(options.key)),
          acceptor_(io_, tcp::endpoint(asio::ip::make_address(options.address), 0)),
          links_(options.size),
          inboxes_(options.size),
          is_waiting_(options.size),
          unsent_(options.size) {
        ASSERT(!options_.accounts || options_.accounts->accounts.size() == options_.size);
    }
    TlsCollective(const TlsCollective&) = delete;
    TlsCollective& operator=(const TlsCollective&) = delete;
    ~TlsCollective() override {
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, kFlush, [&] { return unsent_.is_over(); });
        }
        io_.stop();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    void connect(engine::SharedWords& words) {
        const auto port = acceptor_.local_endpoint().port();
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
        words.set(place_word(options_.rank), encode_place({.address = options_.address, .port = port}));
        for (std::uint32_t other = 0; other < options_.rank; ++other) {
            if (const auto place = decode_place(words.get(place_word(other)))) {
                asio::co_spawn(io_, reach(other, *place), asio::detached);
            } else {
                note_gone(other, "rank " + std::to_string(other) + " does not say where it listens");
            }
        }
        std::unique_lock lock(mutex_);
        const auto end = LinkClock::now() + options_.connect;
        wait(lock, end, [&] { return came_.size() + 1 == options_.size || lost_on_the_way(); });
        if (came_.size() + 1 != options_.size) {
            const auto lost = lost_on_the_way();
            throw engine::RankError(
                lost.value_or(missing()), engine::RankFault::kGone,
                "the ranks of the cell cannot connect: " +
                    (lost ? gone_.at(*lost)
                          : std::to_string(came_.size() + 1) + " of " + std::to_string(options_.size) + " came")
            );
        }
        asio::post(io_, [this] { acceptor_.close(); });
    }

    std::uint32_t rank() const override { return options_.rank; }
    std::uint32_t size() const override { return options_.size; }

    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        return exchange_all(std::move(to), expected, tag, nullptr);
    }
    std::vector<Bytes> exchange_while(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, engine::Crossing& crossing
    ) override {
        return exchange_all(std::move(to), expected, tag, &crossing);
    }

    void expect(const std::vector<engine::Ahead>& in_step) override {
        const std::scoped_lock lock(mutex_);
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            engine::Ahead ahead;
            ahead.bytes += in_step[other].bytes;
            ahead.messages += in_step[other].messages;
            inboxes_[other].set_ahead(ahead);
            read_on(other);
        }
    }

    void settle() override {
        std::unique_lock lock(mutex_);
        wait(lock, LinkClock::now() + options_.timeout, [&] { return unsent_.is_none() || unsent_.lost(); });
        if (!unsent_.is_none()) {
            const auto lost = unsent_.lost();
            throw gone_or_slow(lost.value_or(*unsent_.first()), lost.has_value());
        }
    }

  private:
    // The mutex must be held.
    engine::RankError gone_or_slow(std::uint32_t rank, bool is_gone) const {
        const std::string why = is_gone ? ": " + gone_.at(rank) : std::string();
        return {
            rank, engine::RankFault::kGone,
            "a rank of the cell is gone or too slow: rank " + std::to_string(rank) + why};
    }

    // A rank that cannot be reached. Who has connected may be gone already, with all that it needs, and keeps nobody
    // from connecting. The mutex must be held.
    std::optional<std::uint32_t> lost_on_the_way() const {
        const auto found =
            std::find_if(gone_.begin(), gone_.end(), [&](const auto& gone) { return !came_.contains(gone.first); });
        return found == gone_.end() ? std::nullopt : std::optional(found->first);
    }

    // The first rank that did not come, of which there is one. The mutex must be held.
    std::uint32_t missing() const {
        std::uint32_t out = 0;
        while (out == options_.rank || came_.contains(out)) {
            ++out;
        }
        return out;
    }

    // Waits until `is_done`, at most until `end`, and not once the rank shall stop. Returns whether it is done.
    template <class Done>
    bool wait(std::unique_lock<std::mutex>& lock, LinkClock::time_point end, Done is_done) {
        while (!changed_.wait_for(lock, kLook, is_done)) {
            if ((options_.stop != nullptr && *options_.stop) || LinkClock::now() > end) {
                return false;
            }
            if (options_.while_waiting) {
                lock.unlock();
                const bool goes_on = options_.while_waiting(kLook);
                lock.lock();
                if (!goes_on) {
                    return is_done();
                }
            }
        }
        return true;
    }

    std::vector<Bytes> exchange_all(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, engine::Crossing* crossing
    ) {
        std::map<std::uint32_t, std::size_t> awaited;  // ranks, and how much of their messages was shown
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            if (expected[other] != 0) {
                const std::scoped_lock lock(mutex_);
                inboxes_[other].ask(tag, expected[other]);
                read_on(other);
                awaited[other] = 0;
            }
        }
        send_all(std::move(to), tag, crossing);
        std::vector<Bytes> out(options_.size);
        auto end = LinkClock::now() + options_.timeout;
        while (!awaited.empty()) {
            const std::uint32_t next =
                crossing == nullptr ? awaited.begin()->first : show_until_whole(awaited, end, *crossing);
            out[next] = receive(next, expected[next], end);
            awaited.erase(next);
            end = LinkClock::now() + options_.timeout;
            if (crossing != nullptr) {
                crossing->arrived(next, out[next]);
            }
        }
        return out;
    }

    // A long message is on its way while its ending is made. A short one is sent with its ending, in one record.
    void send_all(std::vector<Bytes> to, std::uint32_t tag, engine::Crossing* crossing) {
        std::vector<std::shared_ptr<const Bytes>> sent;  // until all endings are made
        std::vector<std::size_t> endings(options_.size);
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            endings[other] = crossing == nullptr || to[other].empty() ? 0 : crossing->ending_bytes(other);
            count(to[other].size() + endings[other]);
            sent.push_back(std::make_shared<const Bytes>(std::move(to[other])));
            if (sent[other]->size() > kShortBytes) {
                const FrameHeader header{.tag = tag, .bytes = sent[other]->size() + endings[other]};
                send(other, {.head = codec::encode(header), .rest = sent[other]});
            }
        }
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            const Bytes& bytes = *sent[other];
            Bytes head;
            if (!bytes.empty() && bytes.size() <= kShortBytes) {
                head = codec::encode(FrameHeader{.tag = tag, .bytes = bytes.size() + endings[other]});
                append(head, bytes);
            }
            if (endings[other] != 0) {
                append(head, crossing->ending(other, bytes));
            }
            if (!head.empty()) {
                send(other, {.head = std::move(head)});
            }
        }
    }

    void send(std::uint32_t other, Outgoing part) {
        {
            const std::scoped_lock lock(mutex_);
            unsent_.add(other);
        }
        asio::post(io_, [this, other, held = std::move(part)]() mutable {
            Link& link = *links_[other];
            link.outbox.push_back(std::move(held));
            if (!link.is_writing) {
                link.is_writing = true;
                asio::co_spawn(io_, write(other, link), asio::detached);
            }
        });
    }

    // Shows what comes of the messages that this rank awaits, until one of them is there or cannot come any more, or
    // the time is over. Returns whose that is.
    std::uint32_t show_until_whole(
        std::map<std::uint32_t, std::size_t>& awaited, LinkClock::time_point end, engine::Crossing& crossing
    ) {
        const auto is_over = [&](std::uint32_t other) {
            return inboxes_[other].is_answered() || gone_.contains(other);
        };
        for (;;) {
            auto next = awaited.begin();
            std::unique_lock lock(mutex_);
            wait(lock, end, [&] {
                next = std::find_if(awaited.begin(), awaited.end(), [&](const auto& shown) {
                    return is_over(shown.first) || inboxes_[shown.first].so_far().size() > shown.second;
                });
                return next != awaited.end();
            });
            if (next == awaited.end() || is_over(next->first)) {
                return next == awaited.end() ? awaited.begin()->first : next->first;
            }
            const ByteView so_far = inboxes_[next->first].so_far();
            lock.unlock();
            next->second = so_far.size();
            crossing.arrived(next->first, so_far);
        }
    }

    // What has been asked for.
    Bytes receive(std::uint32_t other, std::uint64_t size, LinkClock::time_point end) {
        std::unique_lock lock(mutex_);
        LinkInbox& inbox = inboxes_[other];
        const bool is_there = wait(lock, end, [&] { return inbox.is_answered() || gone_.contains(other); });
        if (!inbox.is_answered()) {
            // Of several that are gone, the others left because of the first.
            throw gone_or_slow(is_there ? *first_gone_ : other, is_there);
        }
        auto message = inbox.answer();
        if (!message) {
            throw wrong_message(other, size, inbox.wrong_bytes(), message.error());
        }
        read_on(other);
        return *std::move(message);
    }

    // There may be room again for what a rank sends. The mutex must be held.
    void read_on(std::uint32_t other) {
        if (is_waiting_[other] && !inboxes_[other].room().empty()) {
            is_waiting_[other] = false;
            asio::post(io_, [this, other] { links_[other]->is_wanted.cancel(); });
        }
    }

    void note_gone(std::uint32_t other, const std::string& why) {
        const std::scoped_lock lock(mutex_);
        gone_.emplace(other, why);
        first_gone_ = first_gone_.value_or(other);
        changed_.notify_all();
    }

    // Signs the channel as this rank's account, for the other rank's.
    Signature own_signature(Stream& stream, std::uint32_t other) const {
        return sign_channel(stream.native_handle(), options_.accounts->key, options_.accounts->accounts[other]);
    }

    awaitable<bool> is_signed_by(Stream& stream, std::uint32_t other) const {
        const LinkAccounts& links = *options_.accounts;
        Signature signature;
        co_await asio::async_read(stream, asio::buffer(signature.data), use_awaitable);
        co_return is_channel_signed(stream.native_handle(), links.accounts[other], links.key.account(), signature);
    }

    // Who connected says that it is this rank.
    awaitable<bool> admits(Stream& stream, std::uint32_t other) const {
        if (!options_.accounts) {
            co_return used_key(stream.native_handle());
        }
        const bool is_signed = co_await is_signed_by(stream, other);
        if (!is_signed) {
            co_return false;
        }
        const Signature own = own_signature(stream, other);
        co_await asio::async_write(stream, asio::buffer(own.data), use_awaitable);
        co_return true;
    }

    // Says to the rank that this one has reached which rank it is; false if it is another one that was reached.
    awaitable<bool> introduces(Stream& stream, std::uint32_t other) const {
        if (!options_.accounts && !used_key(stream.native_handle())) {
            co_return false;
        }
        Bytes hello = codec::encode(Hello{.rank = options_.rank});
        if (options_.accounts) {
            append(hello, own_signature(stream, other).view());
        }
        co_await asio::async_write(stream, asio::buffer(hello), use_awaitable);
        if (!options_.accounts) {
            co_return true;
        }
        const bool is_signed = co_await is_signed_by(stream, other);
        co_return is_signed;
    }

    // Whoever fails to show the key, or to sign, is a stranger, and no reason to give up.
    awaitable<void> accept() {
        while (acceptor_.is_open()) {
            boost::system::error_code error;
            tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(use_awaitable, error));
            if (!error) {
                asio::co_spawn(io_, greet(std::move(socket)), asio::detached);
            } else {
                asio::steady_timer timer(io_, kAcceptAgain);  // until descriptors are left again
                co_await timer.async_wait(use_awaitable);
            }
        }
    }

    awaitable<void> greet(tcp::socket socket) {
        try {
            auto stream = std::make_shared<Stream>(std::move(socket), context_);
            greeted_.add(stream);
            asio::steady_timer timer(io_, kHandshake);
            timer.async_wait([stream](boost::system::error_code error) {
                if (!error) {
                    stream->lowest_layer().close(error);
                }
            });
            co_await stream->async_handshake(asio::ssl::stream_base::server, use_awaitable);
            std::array<std::uint8_t, kHelloBytes> hello{};
            co_await asio::async_read(*stream, asio::buffer(hello), use_awaitable);
            const std::uint32_t other = codec::decode<Hello>(hello).value().rank;  // any 4 bytes are one
            if (other > options_.rank && other < options_.size) {
                const bool is_admitted = co_await admits(*stream, other);
                timer.cancel();
                if (is_admitted && !links_[other]) {
                    begin(other, std::move(*stream));
                }
            }
        } catch (const std::runtime_error&) {
            co_return;
        }
    }

    awaitable<void> reach(std::uint32_t other, RankPlace place) {
        try {
            Stream stream(io_, context_);
            const tcp::endpoint endpoint(asio::ip::make_address(place.address), place.port);
            co_await stream.next_layer().async_connect(endpoint, use_awaitable);
            co_await stream.async_handshake(asio::ssl::stream_base::client, use_awaitable);
            const bool is_introduced = co_await introduces(stream, other);
            if (!is_introduced) {
                const char* const lacks =
                    options_.accounts ? " did not sign as its account" : " does not have the session's key";
                note_gone(other, "rank " + std::to_string(other) + lacks);
                co_return;
            }
            begin(other, std::move(stream));
        } catch (const std::exception& error) {
            const std::string where = place.address + ":" + std::to_string(place.port);
            note_gone(other, "rank " + std::to_string(other) + " at " + where + ": " + error.what());
        }
    }

    void begin(std::uint32_t other, Stream stream) {
        stream.lowest_layer().set_option(tcp::no_delay(true));
        links_[other] = std::make_unique<Link>(std::move(stream));
        asio::co_spawn(io_, read(other, *links_[other]), asio::detached);
        const std::scoped_lock lock(mutex_);
        came_.insert(other);
        changed_.notify_all();
    }

    std::span<std::uint8_t> room_of(std::uint32_t other) {
        const std::scoped_lock lock(mutex_);
        const std::span<std::uint8_t> out = inboxes_[other].room();
        is_waiting_[other] = out.empty();
        return out.first(std::min(out.size(), kPartBytes));
    }

    awaitable<void> read(std::uint32_t other, Link& link) {
        try {
            for (;;) {
                const std::span<std::uint8_t> room = room_of(other);
                if (room.empty()) {
                    boost::system::error_code is_wanted;
                    link.is_wanted.expires_at(std::chrono::steady_clock::time_point::max());
                    co_await link.is_wanted.async_wait(asio::redirect_error(use_awaitable, is_wanted));
                    continue;
                }
                co_await asio::async_read(link.stream, asio::buffer(room.data(), room.size()), use_awaitable);
                const std::scoped_lock lock(mutex_);
                inboxes_[other].fill(room.size());
                changed_.notify_all();
            }
        } catch (const std::exception& error) {
            note_gone(other, error.what());
            // Who sends no more takes nothing either, though it may leave its end open: what is being written to it
            // ends as well.
            boost::system::error_code ignored;
            link.stream.lowest_layer().close(ignored);
        }
    }

    awaitable<void> write(std::uint32_t other, Link& link) {
        try {
            while (!link.outbox.empty()) {
                const Outgoing& part = link.outbox.front();
                co_await asio::async_write(link.stream, asio::buffer(part.head), use_awaitable);
                if (part.rest != nullptr) {
                    co_await asio::async_write(link.stream, asio::buffer(*part.rest), use_awaitable);
                }
                link.outbox.pop_front();
                const std::scoped_lock lock(mutex_);
                unsent_.note_sent(other);
                changed_.notify_all();
            }
            link.is_writing = false;
        } catch (const std::exception& error) {
            note_gone(other, error.what());
            const std::scoped_lock lock(mutex_);
            unsent_.note_lost(other);
            changed_.notify_all();
        }
    }

    TlsOptions options_;
    asio::io_context io_;
    asio::ssl::context context_;
    tcp::acceptor acceptor_;
    std::vector<std::unique_ptr<Link>> links_;  // by rank; used by the thread of the links alone
    Greeted greeted_;                           // likewise
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<LinkInbox> inboxes_;             // by rank
    std::vector<bool> is_waiting_;               // whoever reads its link, until there is room
    std::map<std::uint32_t, std::string> gone_;  // ranks, and why
    std::optional<std::uint32_t> first_gone_;
    std::set<std::uint32_t> came_;  // the ranks that have connected
    Unsent unsent_;
    std::thread thread_;
};

}  // namespace

std::unique_ptr<engine::Collective> connect_tls(engine::SharedWords& words, const TlsOptions& options) {
    auto out = std::make_unique<TlsCollective>(options);
    out->connect(words);
    return out;
}

}  // namespace assay::cell
