// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/random_value.hpp>

#include <core/crypto/hash.hpp>

namespace assay::spec {

Words Words::of(std::string_view name) {
    const Hash256 digest = crypto::sha256(as_bytes(name));
    std::uint64_t state = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        state |= std::uint64_t{digest.data[i]} << (8 * i);
    }
    return Words(state);
}

std::uint64_t Words::next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

void fill(Words& words, std::uint8_t* to, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) {
        const std::uint64_t word = words.next();
        for (std::size_t j = i; j < std::min(count, i + 8); ++j) {
            to[j] = static_cast<std::uint8_t>(word >> (8 * (j - i)));
        }
    }
}

std::string make_text(Words& words) {
    static constexpr std::array<std::string_view, 4> kLong{"\u00e9", "\u20ac", "\U0001f600", "\n"};
    std::string out;
    const std::uint64_t length = words.below(9);
    for (std::uint64_t i = 0; i < length; ++i) {
        const std::uint64_t word = words.next();
        if (word % 4 == 0) {
            out += kLong[(word >> 2) % kLong.size()];
        } else {
            out.push_back(static_cast<char>('a' + (word >> 2) % 26));
        }
    }
    return out;
}

}  // namespace assay::spec
