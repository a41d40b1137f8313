// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <client/http/resolve.hpp>

namespace assay::http {

/// Whether the address may belong to anybody on the internet. Not loopback, private, link-local, shared, multicast,
/// reserved or unspecified addresses, nor IPv6 addresses that stand for such an IPv4 address.
bool is_public(const SocketAddress& address) noexcept;

}  // namespace assay::http
