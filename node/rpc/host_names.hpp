// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Protects the node against web pages. A browser sends the host name in the page's URL as Host, even if that name
/// resolves to this machine (DNS rebinding), and it asks for permission (CORS) before it sends JSON to another origin.
namespace assay::rpc {

/// Splits a list of names at commas and converts them to lower case.
std::vector<std::string> decode_host_names(std::string_view text);
/// Returns true if the Host field names an IP address, localhost or one of `names`, with or without a port. An empty
/// field is also allowed: browsers always send one, so the client is not a browser.
bool is_host_allowed(std::string_view host, const std::vector<std::string>& names);
/// Returns true if the Origin field, that of a browser's page, names the host that the request is for, or is absent.
bool is_same_origin(std::string_view origin, std::string_view host);
/// Returns true if the Content-Type field is application/json, with or without parameters.
bool is_json(std::string_view content_type);
/// Returns `text` in a form for error messages: printable and shortened.
std::string shown(std::string_view text);

}  // namespace assay::rpc
