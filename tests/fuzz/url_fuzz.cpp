// SPDX-License-Identifier: Apache-2.0
#include <client/http/http.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const auto url = http::decode_url(as_text(input));
    if (!url) {
        return;
    }
    ASSERT(!url->host.empty() && !url->port.empty() && url->target.starts_with('/'));
    // What was taken apart can be put together and taken apart again.
    const bool is_v6 = url->host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + url->host + "]" : url->host;
    const auto again = http::decode_url("http://" + host + ":" + url->port + url->target);
    ASSERT(again && again->host == url->host && again->port == url->port && again->target == url->target);
}

}  // namespace assay::fuzz
