// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::rpc {

/// Encodes a position in a listing as an opaque cursor for clients. `scope` names the listing and its filters. Cursors
/// are not interchangeable between listings.
std::string encode_cursor(std::string_view scope, std::uint64_t from);
/// Returns the position in a cursor, or nullopt if it is not a cursor of this `scope`.
std::optional<std::uint64_t> decode_cursor(std::string_view scope, std::string_view cursor);

}  // namespace assay::rpc
