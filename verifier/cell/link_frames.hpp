// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// Internal to the cell: what two ranks write to each other on a link, and where a rank says that others reach it.
namespace assay::cell {

/// In front of each message.
struct FrameHeader {
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;  ///< of the message
    static constexpr auto fields() { return Fields<&FrameHeader::tag, &FrameHeader::bytes>{}; }
};
inline constexpr std::size_t kFrameHeaderBytes = 12;

/// The first bytes of who has connected. All of them have the same length, so that a stranger, who may write anything
/// here, makes nobody allocate. Between accounts a signature follows, in either direction.
struct Hello {
    std::uint32_t rank = 0;  ///< of the one who connects
    static constexpr auto fields() { return Fields<&Hello::rank>{}; }
};
inline constexpr std::size_t kHelloBytes = 4;

/// Where a rank listens.
struct RankPlace {
    std::string address;  ///< of IPv4 or IPv6, in digits: nobody is made to look up a name
    std::uint16_t port = 0;
    bool operator==(const RankPlace&) const = default;
};
Bytes encode_place(const RankPlace& place);
/// nullopt if these are not the bytes of a place. They are another rank's, and go into no message.
std::optional<RankPlace> decode_place(ByteView bytes);
/// The word by which a rank tells its place (engine::SharedWords).
std::string place_word(std::uint32_t rank);

}  // namespace assay::cell
