// SPDX-License-Identifier: Apache-2.0
#include <verifier/stores/location.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <client/http/http.hpp>
#include <core/crypto/address.hpp>
#include <verifier/stores/cid.hpp>

namespace assay::stores {
namespace {

constexpr std::size_t kBucketMin = 3;
constexpr std::size_t kBucketMax = 63;
constexpr std::size_t kRegionMax = 32;

bool is_lower(char c) { return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9'); }
bool is_of_key(char c) { return is_lower(c) || ('A' <= c && c <= 'Z') || c == '-' || c == '.' || c == '_'; }

std::string without_slashes(std::string_view text) {
    while (text.ends_with('/')) {
        text.remove_suffix(1);
    }
    return std::string(text);
}

/// The part before a '?', and the parameters behind it by name.
struct Parts {
    std::string_view base;
    std::map<std::string_view, std::string_view> parameters;
};

/// Parameters are separated by '&', which none of their values has.
Result<Parts, LocationError> split_parameters(std::string_view text, const std::vector<std::string_view>& known) {
    const std::size_t mark = text.find('?');
    Parts out{.base = text.substr(0, mark), .parameters = {}};
    std::string_view rest = mark == std::string_view::npos ? std::string_view() : text.substr(mark + 1);
    if (mark != std::string_view::npos && rest.empty()) {
        return Unexpected{LocationError::kParameter};
    }
    while (!rest.empty()) {
        const std::size_t end = rest.find('&');
        const std::string_view item = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        const std::size_t equals = item.find('=');
        const std::string_view name = item.substr(0, equals);
        const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
        const bool is_last_empty = end != std::string_view::npos && rest.empty();
        if (equals == std::string_view::npos || equals + 1 == item.size() || !is_known || is_last_empty ||
            !out.parameters.emplace(name, item.substr(equals + 1)).second) {
            return Unexpected{LocationError::kParameter};
        }
    }
    return out;
}

/// A URL without a query, in a parameter or alone.
Result<std::string, LocationError> base_url(std::string_view text) {
    if (text.find('@') != std::string_view::npos) {
        return Unexpected{LocationError::kUserName};
    }
    std::string url = without_slashes(text);
    if (!http::decode_url(url) || url.find('?') != std::string::npos || url.find('&') != std::string::npos) {
        return Unexpected{LocationError::kUrl};
    }
    return url;
}

bool is_path(std::string_view path) { return path.starts_with('/') && path.find('?') == std::string_view::npos; }

bool is_bucket(std::string_view name) {
    return name.size() >= kBucketMin && name.size() <= kBucketMax && is_lower(name.front()) && is_lower(name.back()) &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || c == '-' || c == '.'; }) &&
           name.find("..") == std::string_view::npos;
}

bool is_prefix(std::string_view prefix) {
    for (bool has_more = !prefix.empty(); has_more;) {
        const std::size_t end = prefix.find('/');
        const std::string_view part = prefix.substr(0, end);
        has_more = end != std::string_view::npos;
        prefix = has_more ? prefix.substr(end + 1) : std::string_view();
        if (part.empty() || part == "." || part == ".." || !std::all_of(part.begin(), part.end(), is_of_key)) {
            return false;
        }
    }
    return true;
}

Result<Location, LocationError> decode_s3(std::string_view text) {
    TRY_ASSIGN(const Parts parts, split_parameters(text, {"endpoint", "region", "style"}));
    const std::size_t slash = parts.base.find('/');
    S3Location out{.bucket = std::string(parts.base.substr(0, slash))};
    out.prefix = slash == std::string_view::npos ? "" : without_slashes(parts.base.substr(slash + 1));
    if (out.bucket.find('@') != std::string::npos) {
        return Unexpected{LocationError::kUserName};
    }
    if (!is_bucket(out.bucket)) {
        return Unexpected{LocationError::kBucket};
    }
    if (!is_prefix(out.prefix)) {
        return Unexpected{LocationError::kPrefix};
    }
    for (const auto& [name, value] : parts.parameters) {
        if (name == "endpoint") {
            TRY_ASSIGN(out.endpoint, base_url(value));
        } else if (name == "region") {
            out.region = value;
            const bool is_region = value.size() <= kRegionMax && std::all_of(value.begin(), value.end(), [](char c) {
                                       return is_lower(c) || c == '-';
                                   });
            if (!is_region) {
                return Unexpected{LocationError::kRegion};
            }
        } else if (value != "path" && value != "virtual") {
            return Unexpected{LocationError::kStyle};
        } else {
            out.style = value == "virtual" ? S3Location::Style::kVirtual : S3Location::Style::kPath;
        }
    }
    return Location(std::move(out));
}

Result<Location, LocationError> decode_relay(std::string_view text) {
    const std::size_t address = text.find('/');
    const std::size_t name = text.find('/', address == std::string_view::npos ? address : address + 1);
    if (name == std::string_view::npos) {
        return Unexpected{LocationError::kRelay};
    }
    const std::string_view relay = text.substr(0, address);
    const std::string host =
        std::string(text.substr(name + 1)) + "." + std::string(text.substr(address + 1, name - address - 1));
    const auto service = relay::decode_host(host);
    if (!service || !relay::is_relay_name(relay)) {
        return Unexpected{LocationError::kRelay};
    }
    return Location(RelayLocation{.relay = std::string(relay), .service = *service});
}

Result<Location, LocationError> decode_ipfs(std::string_view text) {
    TRY_ASSIGN(const Parts parts, split_parameters(text, {"gateway", "api"}));
    IpfsLocation out;
    if (!parts.base.empty()) {
        out.index = decode_cid(parts.base);
        if (!out.index) {
            return Unexpected{LocationError::kCid};
        }
    }
    for (const auto& [name, value] : parts.parameters) {
        TRY_ASSIGN((name == "api" ? out.api : out.gateway), base_url(value));
    }
    return Location(std::move(out));
}

std::string with(std::string text, std::string_view name, std::string_view value) {
    if (!value.empty()) {
        text += text.find('?') == std::string::npos ? '?' : '&';
        text.append(name).append("=").append(value);
    }
    return text;
}

struct Encoder {
    std::string operator()(const ServerLocation& server) const { return server.url; }
    std::string operator()(const RelayLocation& at) const {
        return "relay://" + at.relay + "/" + crypto::to_address(at.service.account) + "/" + at.service.name;
    }
    std::string operator()(const DirectoryLocation& directory) const { return "dir:" + directory.path; }
    std::string operator()(const S3Location& s3) const {
        std::string out = "s3://" + s3.bucket + (s3.prefix.empty() ? "" : "/" + s3.prefix);
        out = with(std::move(out), "endpoint", s3.endpoint);
        out = with(std::move(out), "region", s3.region == S3Location{}.region ? "" : s3.region);
        return with(std::move(out), "style", s3.style == S3Location::Style::kVirtual ? "virtual" : "");
    }
    std::string operator()(const IpfsLocation& ipfs) const {
        std::string out = "ipfs://" + (ipfs.index ? encode_cid(*ipfs.index) : "");
        out = with(std::move(out), "gateway", ipfs.gateway);
        return with(std::move(out), "api", ipfs.api);
    }
};

}  // namespace

const char* to_string(LocationError error) noexcept {
    switch (error) {
        case LocationError::kScheme:
            return "it begins with none of http://, https://, relay://, dir:/, file:///, s3:// and ipfs://";
        case LocationError::kCharacters:
            return "it has characters other than printable ASCII without spaces";
        case LocationError::kUrl:
            return "it is, or one of its parameters is, no http:// or https:// URL without a query";
        case LocationError::kPath:
            return "the directory's path has to be absolute, and without a question mark";
        case LocationError::kBucket:
            return "a bucket's name has 3 to 63 lower-case letters, digits, '-' and '.'";
        case LocationError::kPrefix:
            return "the parts of a prefix have letters, digits, '-', '.' and '_', and are neither empty nor dots alone";
        case LocationError::kParameter:
            return "it has a parameter that is unknown here, empty or given twice; s3:// has endpoint, region and "
                   "style, ipfs:// has gateway and api";
        case LocationError::kRegion:
            return "a region's name has lower-case letters, digits and '-', as in eu-central-1";
        case LocationError::kStyle:
            return "style is path or virtual";
        case LocationError::kCid:
            return "what follows ipfs:// is not the CIDv1 of a raw block with a SHA-256, in base32 (bafkrei...)";
        case LocationError::kUserName:
            return "it holds a user name: everybody reads locations, so credentials are in the environment or a file";
        case LocationError::kRelay:
            return "a worker behind a relay is named relay://HOST:PORT/ADDRESS/NAME: the relay with its port, the "
                   "account (assay1...), and a name of 1 to 16 lower-case letters, digits and '-'";
    }
    return "";
}

Result<Location, LocationError> decode_location(std::string_view text) {
    if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= '\x7f'; })) {
        return Unexpected{LocationError::kCharacters};
    }
    if (text.starts_with("http://") || text.starts_with("https://")) {
        TRY_ASSIGN(std::string url, base_url(text));
        return Location(ServerLocation{std::move(url)});
    }
    constexpr std::array<std::string_view, 2> kDirectories{"dir:", "file://"};
    for (const std::string_view scheme : kDirectories) {
        if (text.starts_with(scheme)) {
            const std::string_view path = text.substr(scheme.size());
            if (!is_path(path)) {
                return Unexpected{LocationError::kPath};
            }
            const std::string shorter = without_slashes(path);
            return Location(DirectoryLocation{shorter.empty() ? "/" : shorter});
        }
    }
    constexpr std::string_view kRelay = "relay://";
    constexpr std::string_view kS3 = "s3://";
    constexpr std::string_view kIpfs = "ipfs://";
    if (text.starts_with(kRelay)) {
        return decode_relay(text.substr(kRelay.size()));
    }
    if (text.starts_with(kS3)) {
        return decode_s3(text.substr(kS3.size()));
    }
    return text.starts_with(kIpfs) ? decode_ipfs(text.substr(kIpfs.size())) : Unexpected{LocationError::kScheme};
}

std::string encode_location(const Location& location) { return std::visit(Encoder{}, location); }

std::vector<std::string> split_locations(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty() && out.size() < kLocationsMax) {
        const std::size_t end = text.find(' ');
        if (const std::string_view one = text.substr(0, end); !one.empty()) {
            out.emplace_back(one);
        }
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return out;
}

std::string server_among(std::string_view text) {
    for (const std::string& one : split_locations(text)) {
        if (one.starts_with("http://") || one.starts_with("https://") || one.starts_with("relay://")) {
            return one;
        }
    }
    return "";
}

}  // namespace assay::stores
