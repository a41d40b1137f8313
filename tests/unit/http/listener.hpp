// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <unistd.h>

#include <tests/loopback.hpp>

namespace assay::http::test {

/// A port that accepts connections into its backlog; `answer` is sent to the first one when it is not empty.
class Listener {
  public:
    explicit Listener(std::string answer = {}, std::size_t piece = 1U << 20U) {
        if (!answer.empty()) {
            thread_ = std::thread([this, answer, piece] {
                const int client = ::accept(socket_.descriptor(), nullptr, nullptr);
                bool is_open = client >= 0 && reads_request(client);
                for (std::size_t at = 0; is_open && at < answer.size(); at += piece) {
                    const std::size_t part = std::min(piece, answer.size() - at);
                    is_open = ::send(client, answer.data() + at, part, MSG_NOSIGNAL) > 0;
                    std::this_thread::sleep_for(std::chrono::milliseconds(piece < answer.size() ? 20 : 0));
                }
                ::close(client);
            });
        }
    }
    ~Listener() {
        ::shutdown(socket_.descriptor(), SHUT_RDWR);  // wakes who waits for a client
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    std::uint16_t port() const { return socket_.port(); }
    /// What the client sent, once it was answered.
    const std::string& request() {
        thread_.join();
        return request_;
    }
    std::string url() const { return socket_.url() + "/"; }

  private:
    /// To its empty line: closing with bytes unread resets the connection, and the answer is lost with it.
    bool reads_request(int client) {
        std::array<char, 4096> buffer{};
        while (request_.find("\r\n\r\n") == std::string::npos) {
            const ssize_t count = ::recv(client, buffer.data(), buffer.size(), 0);
            if (count <= 0) {
                return false;
            }
            request_.append(buffer.data(), static_cast<std::size_t>(count));
        }
        return true;
    }

    assay::test::LoopbackSocket socket_;
    std::string request_;
    std::thread thread_;
};

}  // namespace assay::http::test
