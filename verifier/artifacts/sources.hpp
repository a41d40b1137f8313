// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/stores/store.hpp>

namespace assay::artifacts {

/// A place that may have an artifact. Used by one thread at a time.
struct Source {
    std::string location;
    bool public_only = false;
    std::shared_ptr<stores::Store> store{};  ///< null: `refusal` says why
    FetchError refusal = FetchError::kUnreachable;
};
/// ART-20: the locations of the reference, then the mirrors. Only the mirrors, and locations that are mirrors too, are
/// asked with the operator's credentials and without `public_only`.
std::vector<Source> sources_of(const Reference& artifact, const FetchLimits& limits);
/// ART-6: the request of a server for what it has of the artifact at `target` ("/chunks/..."); nullopt if the source is
/// of another kind.
std::optional<http::HttpCall> server_call_of(
    const Source& source, const Reference& artifact, const std::string& target
);
http::HttpLimits http_limits(const FetchLimits& limits, const Source& source, std::uint64_t body_max);

/// What an error of the network says of a source.
FetchError error_of(const http::NetError& error) noexcept;

/// Hands over bytes of an artifact, or of the hashes beside it, as Store::read() does.
Result<void, FetchError> read_from(
    const Source& source, const stores::ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last,
    const http::BodySink& sink, const http::HttpLimits& limits
);
/// The hashes beside an artifact. Fails with kMismatch if they have more than `size_max` bytes.
Result<std::string, FetchError> read_leaves(
    const Source& source, const Reference& artifact, std::uint64_t size_max, const FetchLimits& limits
);

}  // namespace assay::artifacts
