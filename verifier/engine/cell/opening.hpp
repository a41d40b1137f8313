// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/plan/layout.hpp>

/// Internal to the cell: the message with which rank 0 begins a session.
namespace assay::engine::cell {

struct Opening {
    plan::Layout layout;
    Bytes program;  ///< encoded, at most 64 MiB as artifacts of programs are
};

/// The longest message, which is the most that a rank makes room for because rank 0 says so.
inline constexpr std::uint64_t kOpeningBytesMax = (std::uint64_t{64} << 20U) + 4'096;

enum class [[nodiscard]] OpeningError : std::uint8_t{
    kMalformed = 1,  ///< it is the encoding of no opening, or is longer than kOpeningBytesMax
    kLayout = 2,     ///< its layout is none, or one for another number of ranks
};

Bytes encode_opening(const Opening& opening);
/// `ranks` is how many the session has.
Result<Opening, OpeningError> decode_opening(ByteView bytes, std::uint32_t ranks);

}  // namespace assay::engine::cell
