// SPDX-License-Identifier: Apache-2.0
#include <client/http/http_client.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <vector>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <client/http/curl_call.hpp>
#include <client/http/curl_handles.hpp>
#include <client/http/http_call.hpp>
#include <client/http/http_range.hpp>
#include <client/http/resolve.hpp>

namespace assay::http {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kRedirectsMax = 5;
constexpr std::size_t kHeadMax = 64U << 10U;      // bytes of all header lines of an answer
constexpr std::size_t kPieceBytes = 256U << 10U;  // of a file, as the sink gets it
constexpr milliseconds kLook{200};                // how soon a stop is noticed

/// A part of a file that is asked for, and what takes it.
struct Part {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> last;
    const BodySink& sink;
    bool is_whole() const { return first == 0 && !last; }
};

milliseconds left_until(Clock::time_point deadline) {
    return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(deadline - Clock::now()));
}

/// One request and its answer, without redirects.
class Exchange {
  public:
    /// `text` is what errors name; `part` may be null; `deadline` is that of the whole request, and is extended by what
    /// is received.
    Exchange(
        std::string text, const Url& url, const Part* part, const HttpLimits& limits, const HttpAccess& access,
        const AddressRule& rule, const HttpCall& call, Clock::time_point& deadline
    )
        : text_(std::move(text)),
          url_(url),
          peer_(call.tunnel ? decode_url("http://" + call.tunnel->relay).value_or(Url{}) : url),
          part_(part),
          limits_(limits),
          access_(access),
          rule_(rule),
          call_(call),
          deadline_(deadline),
          easy_(curl_easy_init()) {
        if (!easy_) {
            throw NetError("libcurl has no handle left");
        }
    }

    HttpResponse send() {
        // A tunnel is made of two connections, one after the other, and TLS.
        const auto connect_span = std::min(
            limits_.connect_timeout.value_or(limits_.timeout) * (call_.tunnel ? 3 : 1),
            std::chrono::ceil<milliseconds>(deadline_ - Clock::now())
        );
        const Clock::time_point connect_deadline = Clock::now() + connect_span;
        configure();
        if (call_.tunnel) {
            configure_tunnel(easy_.get(), *call_.tunnel);
            pin_addresses(connect_deadline);
        } else if (!access_.socket.empty()) {
            set(easy_.get(), CURLOPT_NOPROXY, "*");
            set(easy_.get(), CURLOPT_UNIX_SOCKET_PATH, access_.socket.c_str());
        } else if (is_direct()) {
            set(easy_.get(), CURLOPT_NOPROXY, "*");
            pin_addresses(connect_deadline);
        }
        set(easy_.get(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(left_until(connect_deadline).count()));
        configure_call(easy_.get(), call_, headers_, form_);
        set(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
        const CURLcode code = run();
        if (!thrown_ && !is_ended_) {
            flush();  // what came counts, however the transfer ended
        }
        finish(code);
        long status = 0;
        const char* type = nullptr;
        curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &type);
        return {
            .status = static_cast<unsigned>(status),
            .content_type = type == nullptr ? "" : type,
            .body = std::move(body_),
            .fields = fields_of(easy_.get())};
    }

    /// Where the answer redirects to; empty if nowhere.
    std::string location() const {
        const char* next = nullptr;
        curl_easy_getinfo(easy_.get(), CURLINFO_REDIRECT_URL, &next);
        return next == nullptr ? "" : next;
    }

  private:
    void configure() {
        CURL* easy = easy_.get();
        set(easy, CURLOPT_ERRORBUFFER, error_.data());
        set(easy, CURLOPT_URL, text_.c_str());
        set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        set(easy, CURLOPT_FOLLOWLOCATION, 0L);
        set(easy, CURLOPT_PATH_AS_IS, 1L);
        set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        if (!access_.authorities.empty()) {
            set(easy, CURLOPT_CAINFO, access_.authorities.c_str());
            set(easy, CURLOPT_CAPATH, nullptr);
        } else if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr && *file != '\0') {
            set(easy, CURLOPT_CAINFO, file);
        }
        if (!access_.bearer.empty()) {
            append(headers_, "Authorization: Bearer " + access_.bearer);
        }
        if (limits_.body_max > 0 && limits_.body_max <= std::numeric_limits<curl_off_t>::max()) {
            set(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(limits_.body_max));  // if it is announced
        }
        set(easy, CURLOPT_USERAGENT, "assay");
        if (part_ != nullptr) {
            set(easy, CURLOPT_BUFFERSIZE, static_cast<long>(kPieceBytes));
        }
        set(easy, CURLOPT_NOSIGNAL, 1L);
        // A name server that does not answer is left to its thread.
        set(easy, CURLOPT_QUICK_EXIT, 1L);
        set(easy, CURLOPT_FRESH_CONNECT, 1L);
        set(easy, CURLOPT_FORBID_REUSE, 1L);
        if (!call_.signing) {  // libcurl would sign both, and send no empty field
            append(headers_, "Connection: close");
            append(headers_, "Expect:");
        }
        if (part_ != nullptr && !part_->is_whole()) {
            range_ = std::to_string(part_->first) + "-" + (part_->last ? std::to_string(*part_->last) : "");
            set(easy, CURLOPT_RANGE, range_.c_str());
        }
        set(easy, CURLOPT_WRITEFUNCTION, &Exchange::on_body);
        set(easy, CURLOPT_WRITEDATA, this);
        set(easy, CURLOPT_HEADERFUNCTION, &Exchange::on_header);
        set(easy, CURLOPT_HEADERDATA, this);
        set(easy, CURLOPT_OPENSOCKETFUNCTION, &Exchange::on_socket);
        set(easy, CURLOPT_OPENSOCKETDATA, this);
    }

    /// A proxy would resolve the name by itself, so that nobody here sees which address it stands for.
    bool is_direct() const {
        if (rule_ || url_.host == "localhost" || url_.host == "::1" || url_.host.starts_with("127.")) {
            return true;
        }
        const auto is_unset = [](const char* name) {
            const char* value = std::getenv(name);
            return value == nullptr || *value == '\0';
        };
        const bool has_none =
            url_.scheme == "https" ? is_unset("https_proxy") && is_unset("HTTPS_PROXY") : is_unset("http_proxy");
        return has_none && is_unset("all_proxy") && is_unset("ALL_PROXY");
    }

    /// Resolves the name within the deadline, and has libcurl connect to the addresses that it may connect to, no
    /// others.
    void pin_addresses(Clock::time_point deadline) {
        std::vector<SocketAddress> addresses;
        try {
            addresses = resolve(peer_.host, peer_.port, deadline);
        } catch (const NetTimeout& late) {
            throw NetTimeout(text_ + ": " + late.what());
        } catch (const NetError& unknown) {
            throw NetError(text_ + ": " + unknown.what());
        }
        std::string pinned;
        for (const SocketAddress& address : addresses) {
            std::array<char, INET6_ADDRSTRLEN> buffer{};
            const void* bytes =
                address.family() == AF_INET6
                    ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address.data())->sin6_addr)
                    : &reinterpret_cast<const sockaddr_in*>(address.data())->sin_addr;
            if ((rule_ && !rule_(address)) ||
                ::inet_ntop(address.family(), bytes, buffer.data(), buffer.size()) == nullptr) {
                continue;
            }
            const std::string literal = buffer.data();
            pinned += (pinned.empty() ? "" : ",") + (address.family() == AF_INET6 ? "[" + literal + "]" : literal);
        }
        if (pinned.empty()) {
            forbid();
        }
        const bool is_ipv6 = peer_.host.find(':') != std::string::npos;
        append(pins_, (is_ipv6 ? "[" + peer_.host + "]" : peer_.host) + ":" + peer_.port + ":" + pinned);
        set(easy_.get(), CURLOPT_RESOLVE, pins_.get());
    }

    [[noreturn]] void forbid() const {
        throw NetForbidden(
            text_ + ": " + peer_.host + " is an address of a private network, from which nothing is fetched here"
        );
    }

    /// Drives the transfer to its end, its deadline or its stop.
    CURLcode run() {
        const Multi multi(curl_multi_init());
        if (!multi || curl_multi_add_handle(multi.get(), easy_.get()) != CURLM_OK) {
            throw NetError("libcurl has no handle left");
        }
        struct Remover {
            CURLM* multi;
            CURL* easy;
            ~Remover() { curl_multi_remove_handle(multi, easy); }
        } const remover{multi.get(), easy_.get()};
        for (;;) {
            int running = 0;
            if (const CURLMcode code = curl_multi_perform(multi.get(), &running); code != CURLM_OK) {
                throw NetError(text_ + ": " + curl_multi_strerror(code));
            }
            int queued = 0;
            if (const CURLMsg* message = curl_multi_info_read(multi.get(), &queued); message != nullptr) {
                return message->data.result;
            }
            note_sent();
            const bool is_stopped = limits_.stop && limits_.stop();
            const auto now = Clock::now();
            const bool is_idle = limits_.idle_timeout && is_connected() && now >= heard_ + *limits_.idle_timeout;
            if (is_stopped || is_idle || now >= deadline_) {
                return CURLE_OPERATION_TIMEDOUT;
            }
            curl_multi_poll(
                multi.get(), nullptr, 0, static_cast<int>(std::min(left_until(deadline_), kLook).count()), nullptr
            );
        }
    }

    void note_sent() {
        curl_off_t sent = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_UPLOAD_T, &sent);
        if (sent > sent_) {
            received(static_cast<std::size_t>(sent - std::exchange(sent_, sent)));
        }
    }

    /// Until then connect_timeout holds, and the time without a byte has not begun.
    bool is_connected() {
        curl_off_t after_us = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &after_us);
        if (after_us != 0 && heard_ == Clock::time_point{}) {
            heard_ = Clock::now();
        }
        return after_us != 0;
    }

    void finish(CURLcode code) const {
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
        if (is_ended_) {
            return;
        }
        if (is_other_range_) {
            throw NetError(text_ + ": the server answers with another range of bytes than was asked for");
        }
        if (is_refused_ && code != CURLE_OK) {
            forbid();
        }
        if (code == CURLE_OPERATION_TIMEDOUT) {
            throw NetTimeout(text_ + ": timed out");
        }
        if (is_too_large_ || code == CURLE_FILESIZE_EXCEEDED) {
            throw NetTooLarge(
                text_ + ": the answer is larger than the " + std::to_string(limits_.body_max) + " bytes allowed"
            );
        }
        if (code != CURLE_OK) {
            const std::string detail = error_.data();
            throw NetError(text_ + ": " + (detail.empty() ? curl_easy_strerror(code) : detail));
        }
    }

    /// What was received extends the deadline.
    void received(std::size_t bytes) {
        heard_ = Clock::now();
        if (limits_.bytes_per_s != 0) {
            deadline_ += std::chrono::microseconds(bytes * 1'000'000 / limits_.bytes_per_s);
        }
    }

    static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) noexcept {
        auto& me = *static_cast<Exchange*>(self);
        me.received(size);
        if (size > me.limits_.body_max - me.body_bytes_) {
            me.is_too_large_ = true;
            return size + 1;  // anything but `size` aborts the transfer
        }
        me.body_bytes_ += size;
        try {
            if (me.part_ == nullptr) {
                me.body_.append(data, size);
            } else if (!me.hand_on({reinterpret_cast<const std::uint8_t*>(data), size})) {
                return size + 1;
            }
        } catch (...) {
            me.thrown_ = std::current_exception();
            return size + 1;
        }
        return size;
    }

    /// Takes bytes for the sink; false to end the transfer. What comes with another status is nothing of the file.
    bool hand_on(ByteView piece) {
        long status = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
        if (status != 200 && status != 206) {
            return true;
        }
        if (!offset_) {
            offset_ = status == 200 ? 0 : part_->first;
            is_other_range_ = status == 206 && !is_range_as_asked();
        }
        if (is_other_range_) {
            return false;
        }
        // libcurl gives 16 KiB at a time, and a sink that locks and writes takes longer for each call than for the
        // bytes.
        gathered_.insert(gathered_.end(), piece.begin(), piece.end());
        return gathered_.size() < kPieceBytes || flush();
    }

    bool flush() {
        if (!gathered_.empty()) {
            is_ended_ = !part_->sink(*offset_, gathered_);
            *offset_ += gathered_.size();
            gathered_.clear();
        }
        return !is_ended_;
    }

    /// A server may send less than it was asked for, but from the first byte on.
    bool is_range_as_asked() {
        curl_header* field = nullptr;
        if (curl_easy_header(easy_.get(), "Content-Range", 0, CURLH_HEADER, -1, &field) != CURLHE_OK) {
            return false;
        }
        const auto range = decode_content_range(field->value);
        return range && range->first == part_->first && (!part_->last || range->last <= *part_->last);
    }

    static std::size_t on_header(char*, std::size_t, std::size_t size, void* self) noexcept {
        auto& me = *static_cast<Exchange*>(self);
        me.received(size);
        me.head_ += size;
        me.is_too_large_ = me.head_ > kHeadMax;
        return me.is_too_large_ ? size + 1 : size;
    }

    /// Asked of the address that is connected to: a name may stand for another one each time.
    static curl_socket_t on_socket(void* self, curlsocktype, curl_sockaddr* to) noexcept {
        auto& me = *static_cast<Exchange*>(self);
        SocketAddress address;
        if (to->addrlen > sizeof(address.storage)) {
            return CURL_SOCKET_BAD;
        }
        std::memcpy(&address.storage, &to->addr, to->addrlen);
        address.size = to->addrlen;
        if (me.rule_ && !me.rule_(address)) {
            me.is_refused_ = true;
            return CURL_SOCKET_BAD;
        }
        return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    }

    std::string text_;
    const Url& url_;
    const Url peer_;  ///< whose host and port are connected to
    const Part* part_;
    const HttpLimits& limits_;
    const HttpAccess& access_;
    const AddressRule& rule_;  ///< may be empty: all addresses are allowed
    const HttpCall& call_;
    Clock::time_point& deadline_;
    std::array<char, CURL_ERROR_SIZE> error_{};
    List headers_;
    List pins_;
    Form form_;
    std::string range_;
    std::string body_;
    std::uint64_t body_bytes_ = 0;
    std::optional<std::uint64_t> offset_;  // in the file, of the next byte for the sink
    Bytes gathered_;                       // for the sink
    Clock::time_point heard_{};            // when a byte last arrived, or when the connection was there
    std::size_t head_ = 0;
    curl_off_t sent_ = 0;
    bool is_ended_ = false;  // by the sink
    bool is_other_range_ = false;
    bool is_too_large_ = false;
    bool is_refused_ = false;
    std::exception_ptr thrown_;
    Easy easy_;  // freed first, while what it refers to is there
};

/// A redirected POST is sent again only where the status demands the same method. Who redirects decides where to: a
/// token or a signature is for nobody but the server that was named.
bool is_followed(const HttpCall& call, const HttpAccess& access, unsigned status) {
    if (!access.bearer.empty() || call.signing || call.tunnel || (call.method != "GET" && call.method != "POST")) {
        return false;
    }
    return status == 307 || status == 308 || (call.method == "GET" && status >= 301 && status <= 303);
}

HttpResponse request(
    const HttpCall& call, const HttpLimits& limits, const AddressRule& rule, const Part* part = nullptr,
    const HttpAccess& access = {}
) {
    initialise_curl();
    std::string text = call.url;
    Clock::time_point deadline = Clock::now() + limits.timeout;
    bool was_https = false;
    for (int redirects = 0; redirects <= kRedirectsMax; ++redirects) {
        const auto url = decode_url(text);
        if (!url) {
            throw NetError("not an http:// or https:// URL: " + text);
        }
        if (was_https && url->scheme != "https") {
            throw NetError("redirected from https to " + text);
        }
        was_https = url->scheme == "https";
        Exchange exchange(text, *url, part, limits, access, rule, call, deadline);
        HttpResponse response = exchange.send();
        std::string next = exchange.location();
        if (next.empty() || !is_followed(call, access, response.status)) {
            return response;
        }
        text = std::move(next);
    }
    throw NetError(text + ": more than " + std::to_string(kRedirectsMax) + " redirects");
}

AddressRule rule_of(const HttpLimits& limits) { return limits.public_only ? is_public : AddressRule(); }

}  // namespace

HttpResponse http_get(const std::string& url, const HttpLimits& limits, const HttpAccess& access) {
    return request({.url = url}, limits, rule_of(limits), nullptr, access);
}

HttpResponse http_get_where(const AddressRule& rule, const std::string& url, const HttpLimits& limits) {
    return request({.url = url}, limits, rule);
}

HttpResponse http_get_file(
    const std::string& url, std::uint64_t first, std::optional<std::uint64_t> last, const BodySink& sink,
    const HttpLimits& limits
) {
    return http_call_file({.url = url}, first, last, sink, limits);
}

HttpResponse http_post(
    const std::string& url, const std::string& body, const HttpLimits& limits, const HttpAccess& access
) {
    const HttpCall call{
        .method = "POST", .url = url, .fields = {{"Content-Type", "application/json"}}, .body = as_bytes(body)};
    return request(call, limits, rule_of(limits), nullptr, access);
}

HttpResponse http_call(const HttpCall& call, const HttpLimits& limits) {
    return request(call, limits, rule_of(limits), nullptr, {.socket = call.socket});
}

HttpResponse http_call_file(
    const HttpCall& call, std::uint64_t first, std::optional<std::uint64_t> last, const BodySink& sink,
    const HttpLimits& limits
) {
    const Part part{.first = first, .last = last, .sink = sink};
    return request(call, limits, rule_of(limits), &part, {.socket = call.socket});
}

}  // namespace assay::http
