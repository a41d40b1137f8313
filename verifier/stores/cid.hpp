// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>

namespace assay::stores {

/// The CIDv1 of a raw block (codec 0x55) with this SHA-256, in lower-case base32 with its prefix "b".
std::string encode_cid(const Hash256& sha256);
/// The SHA-256 in such a CID; nullopt for any other text.
std::optional<Hash256> decode_cid(std::string_view text);

}  // namespace assay::stores
