// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/sources.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <verifier/stores/location.hpp>

namespace assay::artifacts {
namespace {

/// What a server that refuses may say.
constexpr std::uint64_t kMessageBytes = 4'096;

Source open_source(const std::string& location, const FetchLimits& limits, bool is_own) {
    Source out{.location = location, .public_only = limits.public_only && !is_own};
    const auto decoded = stores::decode_location(location);
    if (!decoded) {
        return out;
    }
    const bool is_directory = std::holds_alternative<stores::DirectoryLocation>(*decoded);
    if (is_directory && out.public_only) {
        out.refusal = FetchError::kForbidden;
        return out;
    }
    out.store = stores::open_store(*decoded, is_own ? limits.credentials : std::nullopt, out.public_only);
    return out;
}

}  // namespace

std::vector<Source> sources_of(const Reference& artifact, const FetchLimits& limits) {
    std::vector<std::string> named = stores::split_locations(artifact.location);
    if (named.empty()) {
        named.push_back(artifact.location);
    }
    std::vector<Source> out;
    const auto add = [&](const std::string& location, bool is_own) {
        const bool is_known =
            std::any_of(out.begin(), out.end(), [&](const Source& source) { return source.location == location; });
        if (!is_known) {
            out.push_back(open_source(location, limits, is_own));
        }
    };
    for (const std::string& location : named) {
        const auto& mirrors = limits.mirrors;
        add(location, std::find(mirrors.begin(), mirrors.end(), location) != mirrors.end());
    }
    for (const std::string& mirror : limits.mirrors) {
        add(mirror, true);
    }
    return out;
}

std::optional<http::HttpCall> server_call_of(
    const Source& source, const Reference& artifact, const std::string& target
) {
    const auto decoded = stores::decode_location(source.location);
    return decoded ? stores::server_call(*decoded, "/artifact/" + to_hex(artifact.name.view()) + target) : std::nullopt;
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

FetchError error_of(const http::NetError& error) noexcept {
    if (dynamic_cast<const http::NetTooLarge*>(&error) != nullptr) {
        return FetchError::kMismatch;
    }
    return dynamic_cast<const http::NetForbidden*>(&error) != nullptr ? FetchError::kForbidden
                                                                      : FetchError::kUnreachable;
}

Result<void, FetchError> read_from(
    const Source& source, const stores::ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last,
    const http::BodySink& sink, const http::HttpLimits& limits
) {
    if (!source.store) {
        return Unexpected{source.refusal};
    }
    try {
        switch (source.store->read(object, first, last, sink, limits)) {
            case stores::ReadEnd::kDone:
                return {};
            case stores::ReadEnd::kMissing:
                return Unexpected{FetchError::kMissing};
            case stores::ReadEnd::kWrong:
                return Unexpected{FetchError::kMismatch};
        }
    } catch (const http::NetError& error) {
        return Unexpected{error_of(error)};
    }
    return Unexpected{FetchError::kMissing};
}

Result<std::string, FetchError> read_leaves(
    const Source& source, const Reference& artifact, std::uint64_t size_max, const FetchLimits& limits
) {
    std::string out;
    bool is_too_large = false;
    const auto keep = [&](std::uint64_t, ByteView piece) {
        is_too_large = piece.size() > size_max - out.size();
        if (!is_too_large) {
            out.append(as_text(piece));
        }
        return !is_too_large;
    };
    const auto bounds = http_limits(limits, source, std::max(size_max, kMessageBytes));
    TRY(read_from(source, {artifact.name, true}, 0, std::nullopt, keep, bounds));
    if (is_too_large) {
        return Unexpected{FetchError::kMismatch};
    }
    return out;
}

}  // namespace assay::artifacts
