// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <client/http/curl_handles.hpp>
#include <client/http/http_call.hpp>

namespace assay::http {

/// Sets the method, the body and the signature of a call. `headers` and `form` have to outlive the transfer.
void configure_call(CURL* easy, const HttpCall& call, List& headers, Form& form);

/// Has the call go through its tunnel, which has to outlive the transfer.
void configure_tunnel(CURL* easy, const HttpTunnel& tunnel);

/// The header fields of the answer, their names in lower case.
std::vector<std::pair<std::string, std::string>> fields_of(CURL* easy);

}  // namespace assay::http
