// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/cursor.hpp>

#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::rpc {

std::string encode_cursor(std::string_view scope, std::uint64_t from) {
    const Hash256 digest = crypto::sha256(as_bytes(scope));
    Bytes bytes(digest.data.begin(), digest.data.begin() + 8);
    append(bytes, codec::encode(from));
    return to_hex(bytes);
}

std::optional<std::uint64_t> decode_cursor(std::string_view scope, std::string_view cursor) {
    const auto bytes = from_hex(cursor);
    if (!bytes || bytes->size() != 16) {
        return std::nullopt;
    }
    const auto from = codec::decode<std::uint64_t>(ByteView(*bytes).subspan(8));
    if (!from || encode_cursor(scope, *from) != cursor) {
        return std::nullopt;
    }
    return *from;
}

}  // namespace assay::rpc
