// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include <sys/uio.h>

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

/// Sockets with deadlines for Beast's synchronous streams. Asio's own blocking calls can wait forever: they poll again
/// when a receive timeout expires.
namespace assay::http {

using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

/// Owns a non-blocking socket. Calls that are not done by the deadline fail with asio's timed_out.
class Socket {
  public:
    /// Takes ownership of `fd` and makes it non-blocking.
    explicit Socket(int fd) noexcept;
    ~Socket();
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int fd() const noexcept { return fd_; }
    void expires_after(Clock::duration span) noexcept { deadline_ = Clock::now() + span; }

    /// Connects to a socket address (sockaddr) of `size` bytes.
    void connect(const void* address, std::size_t size, ErrorCode& error) noexcept;

    // The concepts SyncReadStream and SyncWriteStream.
    template <class Buffers>
    std::size_t read_some(const Buffers& buffers, ErrorCode& error) {
        for (auto it = boost::asio::buffer_sequence_begin(buffers); it != boost::asio::buffer_sequence_end(buffers);
             ++it) {
            const boost::asio::mutable_buffer piece = *it;
            if (piece.size() > 0) {
                return receive(piece.data(), piece.size(), error);
            }
        }
        return 0;
    }
    template <class Buffers>
    std::size_t read_some(const Buffers& buffers) {
        ErrorCode error;
        const std::size_t count = read_some(buffers, error);
        check(error);
        return count;
    }
    /// Sends up to kPiecesMax buffers in one call, so that a small message is sent as one TCP segment.
    template <class Buffers>
    std::size_t write_some(const Buffers& buffers, ErrorCode& error) {
        std::array<iovec, kPiecesMax> pieces{};
        std::size_t count = 0;
        for (auto it = boost::asio::buffer_sequence_begin(buffers);
             it != boost::asio::buffer_sequence_end(buffers) && count < kPiecesMax; ++it) {
            const boost::asio::const_buffer piece = *it;
            if (piece.size() > 0) {
                pieces[count++] = {const_cast<void*>(piece.data()), piece.size()};
            }
        }
        return send({pieces.data(), count}, error);
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& buffers) {
        ErrorCode error;
        const std::size_t count = write_some(buffers, error);
        check(error);
        return count;
    }

  private:
    static constexpr std::size_t kPiecesMax = 16;

    std::size_t receive(void* data, std::size_t size, ErrorCode& error) noexcept;
    std::size_t send(std::span<iovec> pieces, ErrorCode& error) noexcept;
    bool wait(short events, ErrorCode& error) noexcept;
    static void check(const ErrorCode& error) {
        if (error) {
            throw boost::system::system_error(error);
        }
    }

    int fd_;
    Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace assay::http
