// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/fetch.hpp>

namespace assay::artifacts {

/// A server that may have an artifact.
struct Source {
    std::string location;
    bool public_only = false;
};
/// The location of the reference, then the mirrors.
std::vector<Source> sources_of(const Reference& artifact, const FetchLimits& limits);
/// ART-6: where the source has the artifact.
std::string url_of(const Source& source, const Reference& artifact);
http::HttpLimits http_limits(const FetchLimits& limits, const Source& source, std::uint64_t body_max);

}  // namespace assay::artifacts
