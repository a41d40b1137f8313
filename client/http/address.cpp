// SPDX-License-Identifier: Apache-2.0
#include <client/http/address.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <netinet/in.h>

namespace assay::http {
namespace {

using Bytes16 = std::array<std::uint8_t, 16>;

struct Range {
    std::uint32_t first;
    int bits;
};

// IANA's special-purpose registry: what is not reachable from everywhere.
constexpr std::array<Range, 15> kNotPublic{{
    {0x00000000, 8},   // this network
    {0x0A000000, 8},   // private
    {0x64400000, 10},  // shared by a provider's customers
    {0x7F000000, 8},   // loopback
    {0xA9FE0000, 16},  // link-local; what clouds tell their machines is served there
    {0xAC100000, 12},  // private
    {0xC0000000, 24},  // protocol assignments
    {0xC0000200, 24},  // documentation
    {0xC0586300, 24},  // 6to4 relays
    {0xC0A80000, 16},  // private
    {0xC6120000, 15},  // benchmarks of networks
    {0xC6336400, 24},  // documentation
    {0xCB007100, 24},  // documentation
    {0xE0000000, 4},   // multicast
    {0xF0000000, 4},   // reserved, and broadcast
}};

bool is_public_v4(std::uint32_t address) noexcept {
    return std::none_of(kNotPublic.begin(), kNotPublic.end(), [address](const Range& range) {
        return (address ^ range.first) >> (32 - range.bits) == 0;
    });
}

bool is_public_v6(const Bytes16& bytes) noexcept {
    const auto v4_at = [&bytes](std::size_t at) {
        std::uint32_t out = 0;
        for (std::size_t i = at; i < at + 4; ++i) {
            out = out << 8U | bytes[i];
        }
        return out;
    };
    const auto is_zero = [&bytes](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    };
    if (is_zero(0, 10) && bytes[10] == 0xFF && bytes[11] == 0xFF) {  // IPv4 in IPv6's clothes
        return is_public_v4(v4_at(12));
    }
    if (bytes[0] == 0x00 && bytes[1] == 0x64 && bytes[2] == 0xFF && bytes[3] == 0x9B) {  // NAT64
        return is_zero(4, 12) && is_public_v4(v4_at(12));
    }
    if (bytes[0] == 0x20 && bytes[1] == 0x02) {  // 6to4
        return is_public_v4(v4_at(2));
    }
    // Of all of IPv6 only 2000::/3 is given to anybody; of it not the protocol assignments and the documentation.
    const bool is_assignment = bytes[0] == 0x20 && bytes[1] == 0x01 && (bytes[2] & 0xFEU) == 0;
    const bool is_documentation = bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8;
    return (bytes[0] & 0xE0U) == 0x20 && !is_assignment && !is_documentation;
}

}  // namespace

bool is_public(const SocketAddress& address) noexcept {
    if (address.family() == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address.storage, sizeof(v4));
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address.family() == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &address.storage, sizeof(v6));
        Bytes16 bytes{};
        std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
        return is_public_v6(bytes);
    }
    return false;
}

}  // namespace assay::http
