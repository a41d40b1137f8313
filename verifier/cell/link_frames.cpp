// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/link_frames.hpp>

#include <charconv>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace assay::cell {
namespace {

constexpr std::size_t kPlaceMax = 64;

}  // namespace

Bytes encode_place(const RankPlace& place) { return to_bytes(place.address + " " + std::to_string(place.port)); }

std::optional<RankPlace> decode_place(ByteView bytes) {
    const std::string_view text = as_text(bytes);
    const std::size_t space = text.find(' ');
    if (text.size() > kPlaceMax || space == std::string_view::npos) {
        return std::nullopt;
    }
    RankPlace out{.address = std::string(text.substr(0, space)), .port = 0};
    const std::string_view port = text.substr(space + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    boost::system::error_code is_no_address;
    boost::asio::ip::make_address(out.address, is_no_address);
    if (error != std::errc() || end != port.data() + port.size() || out.port == 0 || is_no_address) {
        return std::nullopt;
    }
    return out;
}

std::string place_word(std::uint32_t rank) { return "tls/" + std::to_string(rank); }

}  // namespace assay::cell
