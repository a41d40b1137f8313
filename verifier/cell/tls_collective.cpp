// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/tls_collective.hpp>

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio.hpp>

#include <client/http/own_certificate.hpp>
#include <core/base/assert.hpp>
#include <verifier/cell/account_links.hpp>
#include <verifier/cell/psk.hpp>

namespace assay::cell {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using LinkClock = std::chrono::steady_clock;
using Stream = asio::ssl::stream<tcp::socket>;

constexpr std::chrono::seconds kHandshake{10};
constexpr std::chrono::seconds kFlush{5};
constexpr std::chrono::milliseconds kLook{100};                 // whether the rank shall stop
constexpr std::size_t kHeader = 12;                             // tag, length
constexpr std::uint64_t kMessageMax = std::uint64_t{1} << 40U;  // more is no length

template <class T>
void write_number(std::uint8_t* out, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
        out[i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}
template <class T>
T read_number(const std::uint8_t* from) {
    T out = 0;
    for (std::size_t i = 0; i < sizeof out; ++i) {
        out |= static_cast<T>(static_cast<T>(from[i]) << (8 * i));
    }
    return out;
}

std::string word_of(std::uint32_t rank) { return "tls/" + std::to_string(rank); }

struct OutgoingMessage {
    std::array<std::uint8_t, kHeader> header{};
    Bytes bytes;
};

// A connection to another rank. Only the thread of the links touches stream and outbox.
struct Link {
    explicit Link(Stream connected) : stream(std::move(connected)) {}
    Stream stream;
    std::deque<OutgoingMessage> outbox;
    bool is_writing = false;
};

class TlsCollective final : public engine::Collective {
  public:
    explicit TlsCollective(const TlsOptions& options)
        : options_(options),
          context_(options.accounts ? http::make_own_certificate_context() : make_psk_context(options.key)),
          acceptor_(io_),
          links_(options.size),
          inbox_(options.size) {
        ASSERT(!options_.accounts || options_.accounts->accounts.size() == options_.size);
        const tcp::endpoint at(asio::ip::make_address(options.address), 0);
        acceptor_.open(at.protocol());
        acceptor_.bind(at);
        acceptor_.listen();
    }
    TlsCollective(const TlsCollective&) = delete;
    TlsCollective& operator=(const TlsCollective&) = delete;
    ~TlsCollective() override {
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, kFlush, [&] { return is_settled(); });
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
        words.set(word_of(options_.rank), to_bytes(options_.address + " " + std::to_string(port)));
        for (std::uint32_t other = 0; other < options_.rank; ++other) {
            const std::string place = string_of(ByteView(words.get(word_of(other))));
            asio::co_spawn(io_, reach(other, place), asio::detached);
        }
        std::unique_lock lock(mutex_);
        // Who has connected may already be gone.
        wait(lock, options_.connect, [&] { return came_.size() + 1 == options_.size || !gone_.empty(); });
        if (came_.size() + 1 != options_.size) {
            throw engine::RankError(
                missing(), engine::RankFault::kGone,
                "the ranks of the cell cannot connect: " +
                    (gone_.empty() ? std::to_string(came_.size() + 1) + " of " + std::to_string(options_.size) + " came"
                                   : gone_.at(*first_gone_))
            );
        }
        asio::post(io_, [this] { acceptor_.close(); });
    }

    std::uint32_t rank() const override { return options_.rank; }
    std::uint32_t size() const override { return options_.size; }

    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        count(to);
        for (std::uint32_t other = 0; other < options_.size; ++other) {
            if (!to[other].empty()) {
                send(other, tag, std::move(to[other]));
            }
        }
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
        wait(lock, options_.timeout, [&] { return is_settled(); });
        if (unsent_ != 0) {
            throw std::runtime_error("a rank of the cell is gone or too slow");
        }
    }

  private:
    // Whether nothing is left that can still be sent. A rank that has all that it needs may be gone, and what others
    // need is sent all the same. The mutex must be held.
    bool is_settled() const { return unsent_ == 0 || is_any_lost_; }

    // The rank that left, or else the first one that did not come. The mutex must be held.
    std::uint32_t missing() const {
        std::uint32_t out = options_.rank == 0 ? 1 : 0;
        while (!first_gone_ && out + 1 < options_.size && (out == options_.rank || came_.contains(out))) {
            ++out;
        }
        return first_gone_.value_or(out);
    }

    // Waits until `is_done`, at most for so long, and not once the rank shall stop. Returns whether it is done.
    template <class Done>
    bool wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds limit, Done is_done) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!changed_.wait_for(lock, kLook, is_done)) {
            if ((options_.stop != nullptr && *options_.stop) || std::chrono::steady_clock::now() > end) {
                return false;
            }
        }
        return true;
    }

    void send(std::uint32_t other, std::uint32_t tag, Bytes bytes) {
        OutgoingMessage message{.header = {}, .bytes = std::move(bytes)};
        write_number(message.header.data(), tag);
        write_number(message.header.data() + sizeof tag, std::uint64_t{message.bytes.size()});
        {
            const std::scoped_lock lock(mutex_);
            ++unsent_;
        }
        asio::post(io_, [this, other, held = std::move(message)]() mutable {
            Link& link = *links_[other];
            link.outbox.push_back(std::move(held));
            if (!link.is_writing) {
                link.is_writing = true;
                asio::co_spawn(io_, write(other, link), asio::detached);
            }
        });
    }

    Bytes receive(std::uint32_t other, std::uint32_t tag, std::uint64_t size) {
        std::unique_lock lock(mutex_);
        std::deque<Bytes>& waiting = inbox_[other][tag];
        const bool is_there = wait(lock, options_.timeout, [&] { return !waiting.empty() || gone_.contains(other); });
        if (!is_there || waiting.empty()) {
            // Of several that are gone, the others left because of the first.
            const std::uint32_t lost = is_there ? *first_gone_ : other;
            throw engine::RankError(
                lost, engine::RankFault::kGone,
                "a rank of the cell is gone or too slow: rank " + std::to_string(lost) +
                    (is_there ? ": " + gone_[lost] : std::string())
            );
        }
        Bytes out = std::move(waiting.front());
        waiting.pop_front();
        if (out.size() != size) {
            throw engine::RankError(
                other, engine::RankFault::kOtherLength,
                "rank " + std::to_string(other) + " of the cell sends " + std::to_string(out.size()) +
                    " bytes in place of " + std::to_string(size)
            );
        }
        return out;
    }

    void note_gone(std::uint32_t other, const std::string& why) {
        const std::scoped_lock lock(mutex_);
        gone_.emplace(other, why);
        first_gone_ = first_gone_.value_or(other);
        changed_.notify_all();
    }

    // Signs the channel as this rank's account, for the other rank's.
    Signature own_signature(Stream& stream, std::uint32_t other) const {
        const LinkAccounts& links = *options_.accounts;
        const auto binding = channel_binding(stream.native_handle());
        if (!binding) {
            throw std::runtime_error("the cell: TLS has no exporter");
        }
        return links.key.sign(link_digest(*binding, links.key.account(), links.accounts[other]).view());
    }

    awaitable<bool> is_signed_by(Stream& stream, std::uint32_t other) const {
        const LinkAccounts& links = *options_.accounts;
        Signature signature;
        co_await asio::async_read(stream, asio::buffer(signature.data), use_awaitable);
        const auto binding = channel_binding(stream.native_handle());
        if (!binding) {
            co_return false;
        }
        const Hash256 digest = link_digest(*binding, links.accounts[other], links.key.account());
        co_return crypto::verify_signature(links.accounts[other], digest.view(), signature);
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
        Bytes hello(sizeof options_.rank);
        write_number(hello.data(), options_.rank);
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
            }
        }
    }

    awaitable<void> greet(tcp::socket socket) {
        try {
            auto stream = std::make_shared<Stream>(std::move(socket), context_);
            asio::steady_timer timer(io_, kHandshake);
            timer.async_wait([stream](boost::system::error_code error) {
                if (!error) {
                    stream->lowest_layer().close(error);
                }
            });
            co_await stream->async_handshake(asio::ssl::stream_base::server, use_awaitable);
            std::array<std::uint8_t, 4> hello{};
            co_await asio::async_read(*stream, asio::buffer(hello), use_awaitable);
            const auto other = read_number<std::uint32_t>(hello.data());
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

    awaitable<void> reach(std::uint32_t other, std::string place) {
        try {
            const std::size_t space = place.find(' ');
            tcp::resolver resolver(io_);
            const auto found =
                co_await resolver.async_resolve(place.substr(0, space), place.substr(space + 1), use_awaitable);
            Stream stream(io_, context_);
            co_await asio::async_connect(stream.next_layer(), found, use_awaitable);
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
            note_gone(other, "rank " + std::to_string(other) + " at " + place + ": " + error.what());
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

    awaitable<void> read(std::uint32_t other, Link& link) {
        try {
            for (;;) {
                std::array<std::uint8_t, kHeader> header{};
                co_await asio::async_read(link.stream, asio::buffer(header), use_awaitable);
                const auto tag = read_number<std::uint32_t>(header.data());
                const auto size = read_number<std::uint64_t>(header.data() + sizeof tag);
                if (size > kMessageMax) {
                    throw std::runtime_error("sends a message of " + std::to_string(size) + " bytes");
                }
                Bytes bytes(size);
                co_await asio::async_read(link.stream, asio::buffer(bytes), use_awaitable);
                const std::scoped_lock lock(mutex_);
                inbox_[other][tag].push_back(std::move(bytes));
                changed_.notify_all();
            }
        } catch (const std::exception& error) {
            note_gone(other, error.what());
        }
    }

    awaitable<void> write(std::uint32_t other, Link& link) {
        try {
            while (!link.outbox.empty()) {
                const OutgoingMessage& message = link.outbox.front();
                const std::array<asio::const_buffer, 2> buffers{
                    asio::buffer(message.header), asio::buffer(message.bytes)};
                co_await asio::async_write(link.stream, buffers, use_awaitable);
                link.outbox.pop_front();
                const std::scoped_lock lock(mutex_);
                --unsent_;
                changed_.notify_all();
            }
            link.is_writing = false;
        } catch (const std::exception& error) {
            {
                const std::scoped_lock lock(mutex_);
                is_any_lost_ = true;
            }
            note_gone(other, error.what());
        }
    }

    TlsOptions options_;
    asio::io_context io_;
    asio::ssl::context context_;
    tcp::acceptor acceptor_;
    std::vector<std::unique_ptr<Link>> links_;  // by rank; used by the thread of the links alone
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::map<std::uint32_t, std::deque<Bytes>>> inbox_;  // by rank and tag
    std::map<std::uint32_t, std::string> gone_;                      // ranks, and why
    std::optional<std::uint32_t> first_gone_;
    std::set<std::uint32_t> came_;  // the ranks that have connected
    std::uint64_t unsent_ = 0;
    bool is_any_lost_ = false;  // a message could not be sent, since its rank is gone
    std::thread thread_;
};

}  // namespace

std::unique_ptr<engine::Collective> connect_tls(engine::SharedWords& words, const TlsOptions& options) {
    auto out = std::make_unique<TlsCollective>(options);
    out->connect(words);
    return out;
}

}  // namespace assay::cell
