// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <core/base/bytes.hpp>
#include <tests/loopback.hpp>

namespace assay::test {

/// What is odd about a server.
struct Oddity {
    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t cut_after = kNever;       ///< bytes of a body, after which each connection is closed
    std::uint64_t stall_after = kNever;     ///< likewise, after which nothing more comes
    std::optional<std::uint64_t> lie_at{};  ///< offset of a byte that is sent wrong
    std::chrono::milliseconds pause{0};     ///< after each 16 KiB
    bool knows_ranges = true;
};

/// Serves one file over HTTP, whatever is asked for, and what belongs to it at /leaves. Who asks for chunks gets as
/// many from the file's beginning.
class OddServer {
  public:
    explicit OddServer(Bytes file, Oddity oddity = {}, Bytes leaves = {})
        : file_(std::move(file)), leaves_(std::move(leaves)), oddity_(oddity) {
        acceptor_ = std::thread([this] { accept(); });
    }
    ~OddServer() {
        is_over_ = true;
        ::shutdown(socket_.descriptor(), SHUT_RDWR);
        acceptor_.join();
        for (std::thread& connection : connections_) {
            connection.join();
        }
    }
    OddServer(const OddServer&) = delete;
    OddServer& operator=(const OddServer&) = delete;

    std::string url() const { return socket_.url(); }
    std::uint64_t connections() const { return count_; }
    /// Of bodies.
    std::uint64_t bytes_sent() const { return sent_; }

  private:
    void accept() {
        while (!is_over_) {
            const int client = ::accept(socket_.descriptor(), nullptr, nullptr);
            if (client >= 0) {
                ++count_;
                connections_.emplace_back([this, client] {
                    serve(client);
                    ::close(client);
                });
            }
        }
    }

    void serve(int client) {
        std::string request;
        std::array<char, 4096> buffer{};
        while (request.find("\r\n\r\n") == std::string::npos) {
            const ssize_t count = ::recv(client, buffer.data(), buffer.size(), 0);
            if (count <= 0) {
                return;
            }
            request.append(buffer.data(), static_cast<std::size_t>(count));
        }
        if (request.find("/leaves ") != std::string::npos) {
            const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(leaves_.size()) +
                                       "\r\n\r\n" + string_of(leaves_);
            ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
            return;
        }
        std::uint64_t first = 0;
        std::uint64_t end = file_.size();
        if (const std::size_t at = request.find("/chunks/"); at != std::string::npos) {
            const auto list_end = request.begin() + static_cast<std::ptrdiff_t>(request.find(' ', at));
            const auto commas = std::count(request.begin() + static_cast<std::ptrdiff_t>(at), list_end, ',');
            end = std::min<std::uint64_t>(end, (static_cast<std::uint64_t>(commas) + 1) * 4'096);
        }
        std::string head = "HTTP/1.1 200 OK\r\n";
        const std::string field = "Range: bytes=";
        if (const std::size_t at = request.find(field); at != std::string::npos && oddity_.knows_ranges) {
            const std::size_t dash = request.find('-', at);
            first = std::stoull(request.substr(at + field.size()));
            end = std::min<std::uint64_t>(end, std::stoull(request.substr(dash + 1)) + 1);
            head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(first) + "-" +
                   std::to_string(end - 1) + "/" + std::to_string(file_.size()) + "\r\n";
        }
        head += "Content-Length: " + std::to_string(end - first) + "\r\n\r\n";
        ::send(client, head.data(), head.size(), MSG_NOSIGNAL);
        send_body(client, first, end);
    }

    void send_body(int client, std::uint64_t first, std::uint64_t end) {
        constexpr std::uint64_t kPiece = 16U << 10U;
        const std::uint64_t last = std::min(oddity_.cut_after, oddity_.stall_after);
        const std::uint64_t stop = last < end - first ? first + last : end;
        for (std::uint64_t at = first; at < stop && !is_over_; at += kPiece) {
            Bytes piece(
                file_.begin() + static_cast<std::ptrdiff_t>(at),
                file_.begin() + static_cast<std::ptrdiff_t>(std::min(at + kPiece, stop))
            );
            if (oddity_.lie_at && *oddity_.lie_at >= at && *oddity_.lie_at < at + piece.size()) {
                piece[*oddity_.lie_at - at] ^= 1U;
            }
            for (std::size_t sent = 0; sent < piece.size();) {
                const ssize_t count = ::send(client, piece.data() + sent, piece.size() - sent, MSG_NOSIGNAL);
                if (count <= 0) {
                    return;
                }
                sent += static_cast<std::size_t>(count);
                sent_ += static_cast<std::uint64_t>(count);
            }
            std::this_thread::sleep_for(oddity_.pause);
        }
        char byte = 0;
        while (stop - first >= oddity_.stall_after && !is_over_ && ::recv(client, &byte, 1, MSG_DONTWAIT) != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    Bytes file_;
    Bytes leaves_;
    Oddity oddity_;
    LoopbackSocket socket_;
    std::atomic<bool> is_over_{false};
    std::atomic<std::uint64_t> count_{0};
    std::atomic<std::uint64_t> sent_{0};
    std::vector<std::thread> connections_;  // of the acceptor, until it has ended
    std::thread acceptor_;
};

}  // namespace assay::test
