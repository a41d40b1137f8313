// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

/// A TCP connection that sends whatever a test wants, well-formed or not.
namespace assay::http::test {

class RawClient {
  public:
    /// `from`: the loopback address that it comes from.
    explicit RawClient(std::uint16_t port, const std::string& from = "127.0.0.1");
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    void send(std::string_view text);
    /// What arrives until `count` occurrences of `mark` are there, the other side closes, or `timeout`.
    std::string read_until(
        std::string_view mark, std::size_t count = 1, std::chrono::milliseconds timeout = std::chrono::seconds(5)
    );
    /// Everything until the other side closes; `is_closed()` says whether it did.
    std::string read_all(std::chrono::milliseconds timeout = std::chrono::seconds(5));
    bool is_closed() const { return closed_; }

  private:
    int fd_;
    bool closed_ = false;
};

}  // namespace assay::http::test
