// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>

namespace assay {

/// Base64 (RFC 4648), with padding.
std::string to_base64(ByteView bytes);
/// Decodes; nullopt for anything that to_base64 does not produce.
std::optional<Bytes> from_base64(std::string_view text);

}  // namespace assay
