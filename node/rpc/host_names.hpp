// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What keeps web pages out: a browser sends the name in the page's address as Host, also when that name leads to this
/// machine (DNS rebinding), and asks before it sends JSON to another origin.
namespace assay::rpc {

/// Names separated by commas, in lower case.
std::vector<std::string> decode_host_names(std::string_view text);
/// Whether the Host field names an IP address, localhost or one of `names`, with or without a port. Browsers always send
/// one; who sends none is no browser.
bool is_host_allowed(std::string_view host, const std::vector<std::string>& names);
/// Whether the Content-Type field says application/json, with or without parameters.
bool is_json(std::string_view content_type);
/// For a message: printable, and not long.
std::string shown(std::string_view text);

}  // namespace assay::rpc
