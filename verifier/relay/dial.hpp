// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

/// Internal to who connects to relays: where they are, and what is said of those that fail.
namespace assay::relay {

inline constexpr const char* kNoRelay = "it does not answer as a relay does";
inline constexpr const char* kOtherSpeech = "it does not speak as a relay does: ";
inline std::string unreachable(const boost::system::error_code& error) {
    return "it cannot be reached: " + error.message();
}

/// Looks up HOST:PORT, within five seconds. Returns nothing if the name has no address, with the reason in `trouble`.
std::vector<boost::asio::ip::tcp::endpoint> endpoints_of(const std::string& relay, std::string& trouble);

}  // namespace assay::relay
