// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <client/http/resolve.hpp>

namespace assay::http {

/// Returns true if the address is a public one on the internet: not loopback, private, link-local, shared, multicast,
/// reserved or unspecified, and not an IPv6 form of such an IPv4 address.
bool is_public(const SocketAddress& address) noexcept;

}  // namespace assay::http
