// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::rpc {

/// A place in a listing as clients carry it. `scope` names the listing, its filters included: a cursor of one listing
/// is none of another.
std::string encode_cursor(std::string_view scope, std::uint64_t from);
std::optional<std::uint64_t> decode_cursor(std::string_view scope, std::string_view cursor);

}  // namespace assay::rpc
