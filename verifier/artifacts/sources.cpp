// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/sources.hpp>

#include <algorithm>

namespace assay::artifacts {

std::vector<Source> sources_of(const Reference& artifact, const FetchLimits& limits) {
    std::vector<Source> out{{artifact.location, limits.public_only}};
    for (const std::string& mirror : limits.mirrors) {
        const bool is_known =
            std::any_of(out.begin(), out.end(), [&](const Source& source) { return source.location == mirror; });
        if (!is_known) {
            out.push_back({mirror, false});
        }
    }
    return out;
}

std::string url_of(const Source& source, const Reference& artifact) {
    std::string url = source.location;
    while (url.ends_with('/')) {
        url.pop_back();
    }
    return url + "/artifact/" + to_hex(artifact.name.view());
}

http::HttpLimits http_limits(const FetchLimits& limits, const Source& source, std::uint64_t body_max) {
    return {
        .timeout = limits.timeout,
        .body_max = body_max,
        .connect_timeout = limits.connect_timeout,
        .bytes_per_s = limits.bytes_per_s,
        .idle_timeout = limits.idle_timeout,
        .public_only = source.public_only,
        .stop = [stop = limits.stop] { return stop != nullptr && *stop; }};
}

}  // namespace assay::artifacts
