// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/relay/message.hpp>

/// Where artifacts lie (ART-20). A location is text that anybody may have written: decoding it does nothing else.
namespace assay::stores {

enum class [[nodiscard]] LocationError : std::uint8_t{
    kScheme = 1,      ///< none of http, https, relay, dir, file, s3 and ipfs
    kCharacters = 2,  ///< not printable ASCII without spaces
    kUrl = 3,         ///< an http:// or https:// URL, or one in a parameter, that is none
    kPath = 4,        ///< a directory whose path is not absolute
    kBucket = 5,      ///< not the name of a bucket: 3 to 63 of a-z, 0-9, "-" and "."
    kPrefix = 6,      ///< a prefix with a character that a key of ours does not have, or with an empty part or ".."
    kParameter = 7,   ///< a parameter that this kind of location does not have, or twice
    kRegion = 8,      ///< not the name of a region
    kStyle = 9,       ///< neither path nor virtual
    kCid = 10,        ///< not the CIDv1 of a raw block with a SHA-256, in base32
    kUserName = 11,   ///< it holds a user name or password, which everybody would read
    kRelay = 12,      ///< not relay://HOST:PORT/ADDRESS/NAME
};
const char* to_string(LocationError error) noexcept;

/// A worker's server, or any that serves artifacts as ART-6 says.
struct ServerLocation {
    std::string url;  ///< without a slash at its end
    bool operator==(const ServerLocation&) const = default;
};

/// ART-23: a worker's server that is reached through a relay.
struct RelayLocation {
    std::string relay;  ///< HOST:PORT
    relay::Service service;
    bool operator==(const RelayLocation&) const = default;
};

struct DirectoryLocation {
    std::string path;
    bool operator==(const DirectoryLocation&) const = default;
};

struct S3Location {
    enum class Style : std::uint8_t { kPath = 1, kVirtual = 2 };
    std::string bucket;
    std::string prefix{};    ///< of all keys, without slashes around it; may be empty
    std::string endpoint{};  ///< URL; empty: that of Amazon for the region
    std::string region = "us-east-1";
    Style style = Style::kPath;
    bool operator==(const S3Location&) const = default;
};

struct IpfsLocation {
    std::optional<Hash256> index{};  ///< SHA-256 of the block that lists what is there; nullopt: nothing yet
    std::string gateway{};           ///< URL of a trustless gateway that is read from; empty: the machine's own
    std::string api{};               ///< URL of the RPC of a node that is written to; empty: the machine's own
    bool operator==(const IpfsLocation&) const = default;
};

using Location = std::variant<ServerLocation, DirectoryLocation, S3Location, IpfsLocation, RelayLocation>;

/// Decodes one location.
Result<Location, LocationError> decode_location(std::string_view text);
/// The text of a location, which decode_location() makes the same of.
std::string encode_location(const Location& location);

/// ART-20: what a record may name at most.
inline constexpr std::size_t kLocationsMax = 8;
/// Splits the text of a record into locations, which spaces separate. Does not decode them: of several, others may be
/// of use where one is of a kind that is not known here. No more than kLocationsMax, the first ones.
std::vector<std::string> split_locations(std::string_view text);
/// ART-20: the first of several that is a worker's server, be it behind a relay; empty if there is none.
std::string server_among(std::string_view text);

}  // namespace assay::stores
