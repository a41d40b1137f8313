// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/dial.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include <client/http/http.hpp>
#include <client/http/resolve.hpp>

namespace assay::relay {

std::vector<boost::asio::ip::tcp::endpoint> endpoints_of(const std::string& relay, std::string& trouble) {
    constexpr std::chrono::seconds kResolve{5};
    const auto url = http::decode_url("http://" + relay);
    std::vector<boost::asio::ip::tcp::endpoint> out;
    try {
        const auto give_up_at = std::chrono::steady_clock::now() + kResolve;
        for (const http::SocketAddress& address : http::resolve(url.value().host, url.value().port, give_up_at)) {
            auto& endpoint = out.emplace_back();
            std::memcpy(endpoint.data(), address.data(), std::min<std::size_t>(address.size, endpoint.capacity()));
        }
    } catch (const http::NetError& error) {
        trouble = error.what();
    }
    return out;
}

}  // namespace assay::relay
