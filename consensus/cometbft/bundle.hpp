// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>

/// A bundle (CMT-16): several transactions that nodes pass on to each other as one entry of CometBFT's mempool. Blocks
/// hold transactions, never bundles.
namespace assay::cometbft {

/// The first byte of a bundle. A transaction begins with the length of its chain id, which is at most 48.
inline constexpr std::uint8_t kBundleTag = 0xff;
inline constexpr std::uint8_t kBundleVersion = 1;
/// Bounds the signatures that one CheckTx request can ask for.
inline constexpr std::size_t kBundleBytesMax = 32U << 10U;
/// What a bundle takes besides its parts, and for each part besides the part's bytes.
inline constexpr std::size_t kBundleHeadBytes = 6;
inline constexpr std::size_t kPartHeadBytes = 4;

/// Why bytes that begin like a bundle are none (CMT-16).
enum class [[nodiscard]] BundleError : std::uint8_t{
    kTooLarge = 1,     ///< more than kBundleBytesMax
    kVersion = 2,      ///< a version that this program does not know
    kUndecodable = 3,  ///< not the encoding of a bundle
    kTooFew = 4,       ///< fewer than two parts
    kBadPart = 5,      ///< a part that is empty or begins like a bundle
};

/// Returns whether the bytes begin like a bundle.
bool is_bundle(ByteView tx) noexcept;
/// Encodes two or more transactions, whose encoding must fit kBundleBytesMax.
Bytes encode_bundle(const std::vector<std::shared_ptr<const Bytes>>& parts);
/// Returns the parts, which need not be transactions. `encode_bundle(*decode_bundle(b)) == b`.
Result<std::vector<Bytes>, BundleError> decode_bundle(ByteView bundle);

}  // namespace assay::cometbft
