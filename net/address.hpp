// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/resolve.hpp>

namespace assay::net {

/// Whether the address may belong to anybody on the internet. Not loopback, private, link-local, shared, multicast,
/// reserved or unspecified addresses, nor IPv6 addresses that stand for such an IPv4 address.
bool is_public(const SocketAddress& address) noexcept;

}  // namespace assay::net
