// SPDX-License-Identifier: Apache-2.0
#include <client/http/socket.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>

namespace assay::http {

namespace {

ErrorCode last_error() noexcept { return {errno, boost::system::system_category()}; }

}  // namespace

Socket::Socket(int fd) noexcept : fd_(fd) {
    const int flags = ::fcntl(fd_, F_GETFL);
    ::fcntl(fd_, F_SETFL, flags | O_NONBLOCK);
}

Socket::~Socket() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

bool Socket::wait(short events, ErrorCode& error) noexcept {
    for (;;) {
        int timeout = -1;
        if (deadline_ != Clock::time_point::max()) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
            if (left <= 0) {
                error = boost::asio::error::timed_out;
                return false;
            }
            timeout = static_cast<int>(std::min<std::int64_t>(left, 60'000));
        }
        pollfd entry{fd_, events, 0};
        const int ready = ::poll(&entry, 1, timeout);
        if (ready > 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR) {
            error = last_error();
            return false;
        }
    }
}

void Socket::connect(const void* address, std::size_t size, ErrorCode& error) noexcept {
    error = {};
    if (::connect(fd_, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0) {
        return;
    }
    if (errno != EINPROGRESS) {
        error = last_error();
        return;
    }
    if (!wait(POLLOUT, error)) {
        return;
    }
    int result = 0;
    socklen_t length = sizeof(result);
    if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &result, &length) != 0) {
        error = last_error();
    } else if (result != 0) {
        error = {result, boost::system::system_category()};
    }
}

std::size_t Socket::receive(void* data, std::size_t size, ErrorCode& error) noexcept {
    error = {};
    for (;;) {
        const ssize_t count = ::recv(fd_, data, size, 0);
        if (count > 0) {
            return static_cast<std::size_t>(count);
        }
        if (count == 0) {
            error = boost::asio::error::eof;
            return 0;
        }
        if (errno == EAGAIN) {
            if (!wait(POLLIN, error)) {
                return 0;
            }
        } else if (errno != EINTR) {
            error = last_error();
            return 0;
        }
    }
}

std::size_t Socket::send(std::span<iovec> pieces, ErrorCode& error) noexcept {
    error = {};
    if (pieces.empty()) {
        return 0;
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    for (;;) {
        const ssize_t count = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        if (errno == EAGAIN) {
            if (!wait(POLLOUT, error)) {
                return 0;
            }
        } else if (errno != EINTR) {
            error = last_error();
            return 0;
        }
    }
}

}  // namespace assay::http
