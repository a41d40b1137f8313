// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>
#include <core/sealed/share.hpp>

/// Hashes inside sealed files and shares, for those who describe the protocol.
namespace assay::sealed {

/// SEA-10: the leaf of a piece of a chunk, "assay/sealed-piece" over its bytes.
Hash256 piece_leaf(ByteView piece) noexcept;
/// SEA-23: what the ephemeral key of a share signs: "assay/share" over the name and the sealed message.
Hash256 share_digest(const ShareName& name, ByteView message);

}  // namespace assay::sealed
