// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/http/raw_client.hpp>

#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <core/base/assert.hpp>

namespace assay::http::test {

namespace {

std::size_t occurrences(const std::string& text, std::string_view mark) {
    std::size_t count = 0;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + mark.size())) {
        ++count;
    }
    return count;
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const std::string& from)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in source{};
    source.sin_family = AF_INET;
    ASSERT(::inet_pton(AF_INET, from.c_str(), &source.sin_addr) == 1);
    ASSERT(::bind(fd_, reinterpret_cast<const sockaddr*>(&source), sizeof(source)) == 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
}

RawClient::~RawClient() { ::close(fd_); }

void RawClient::send(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0) {
            return;  // the other side has had enough: what it said is still to be read
        }
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

std::string RawClient::read_until(std::string_view mark, std::size_t count, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::string out;
    while (mark.empty() || occurrences(out, mark) < count) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd entry{fd_, POLLIN, 0};
        if (left < 0 || ::poll(&entry, 1, static_cast<int>(left)) <= 0) {
            break;
        }
        std::array<char, 4096> buffer{};
        const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
        if (got <= 0) {
            closed_ = true;
            break;
        }
        out.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return out;
}

std::string RawClient::read_all(std::chrono::milliseconds timeout) { return read_until({}, 1, timeout); }

}  // namespace assay::http::test
