// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include <verifier/relay/connection.hpp>

/// Internal to the relay: what it needs of HTTP.
namespace assay::relay {

/// Bytes of a request's head at most.
inline constexpr std::size_t kHeadMax = 8'192;

struct RequestHead {
    bool is_connect = false;
    std::string target{};
};

/// Takes the head of a request from what arrives; nullopt if it is none, or the connection ends.
boost::asio::awaitable<std::optional<RequestHead>> read_head(Connection& connection);

/// A whole answer with one line of text, after which the connection is closed.
std::string answer_of(unsigned status, std::string_view phrase, std::string_view text);

}  // namespace assay::relay
