// SPDX-License-Identifier: Apache-2.0
#include <client/http/kept_connections.hpp>

#include <array>
#include <utility>

#include <client/http/curl_handles.hpp>

namespace assay::http {

/// One of libcurl's handles, with its connection and the answer that it is receiving.
class KeptConnections::Connection {
  public:
    Connection(const std::string& url, std::chrono::milliseconds timeout, std::uint64_t body_max)
        : body_max_(body_max), easy_(curl_easy_init()) {
        if (!easy_) {
            throw NetError("libcurl has no handle left");
        }
        append(headers_, "Content-Type: application/json");
        append(headers_, "Expect:");
        set(easy_.get(), CURLOPT_URL, url.c_str());
        set(easy_.get(), CURLOPT_PROTOCOLS_STR, "http,https");
        set(easy_.get(), CURLOPT_ERRORBUFFER, error_.data());
        set(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
        set(easy_.get(), CURLOPT_USERAGENT, "assay");
        set(easy_.get(), CURLOPT_NOSIGNAL, 1L);
        set(easy_.get(), CURLOPT_NOPROXY, "localhost,127.0.0.0/8,::1");
        set(easy_.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
        set(easy_.get(), CURLOPT_WRITEFUNCTION, &Connection::on_body);
        set(easy_.get(), CURLOPT_WRITEDATA, this);
    }

    std::string post(const std::string& body) {
        answer_.clear();
        error_.front() = '\0';
        set(easy_.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        set(easy_.get(), CURLOPT_POSTFIELDS, body.c_str());
        const CURLcode code = curl_easy_perform(easy_.get());
        if (code == CURLE_OK) {
            return std::move(answer_);
        }
        const std::string detail = error_.front() == '\0' ? curl_easy_strerror(code) : error_.data();
        if (code == CURLE_OPERATION_TIMEDOUT) {
            throw NetTimeout(detail);
        }
        if (code == CURLE_WRITE_ERROR) {
            throw NetTooLarge("the answer is larger than the " + std::to_string(body_max_) + " bytes allowed");
        }
        throw NetError(detail);
    }

  private:
    static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) noexcept {
        auto& me = *static_cast<Connection*>(self);
        if (size > me.body_max_ - me.answer_.size()) {
            return size + 1;  // anything but `size` ends the transfer
        }
        me.answer_.append(data, size);
        return size;
    }

    const std::uint64_t body_max_;
    std::string answer_;
    std::array<char, CURL_ERROR_SIZE> error_{};
    List headers_;
    Easy easy_;  // freed first, while what it refers to is there
};

KeptConnections::KeptConnections(std::string url, std::chrono::milliseconds timeout, std::uint64_t body_max)
    : url_(std::move(url)), timeout_(timeout), body_max_(body_max) {}

KeptConnections::~KeptConnections() = default;

std::unique_ptr<KeptConnections::Connection> KeptConnections::take() {
    initialise_curl();
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto out = std::move(idle_.back());
            idle_.pop_back();
            return out;
        }
    }
    return std::make_unique<Connection>(url_, timeout_, body_max_);
}

std::string KeptConnections::post(const std::string& body) {
    auto connection = take();
    try {
        std::string answer = connection->post(body);
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(connection));
        return answer;
    } catch (const NetTooLarge& error) {
        throw NetTooLarge(url_ + ": " + error.what());
    } catch (const NetTimeout& error) {
        throw NetTimeout(url_ + ": " + error.what());
    } catch (const NetError& error) {
        throw NetError(url_ + ": " + error.what());
    }
}

}  // namespace assay::http
