// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <client/http/address.hpp>
#include <client/http/http.hpp>

namespace assay::http {

/// Returns true if a connection to the address is allowed.
using AddressRule = std::function<bool(const SocketAddress&)>;

/// http_get() with another rule than `limits.public_only`, which is ignored. The rule is asked of every address that is
/// about to be connected to, those of redirects included; NetForbidden if it allows none of a host's.
HttpResponse http_get_where(const AddressRule& rule, const std::string& url, const HttpLimits& limits);

}  // namespace assay::http
