// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <core/base/assert.hpp>
#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>

/// What libFuzzer, and the replay of the corpora without sanitizers, call. A property that does not hold aborts.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assay::fuzz {

/// One target: looks at one input. Defined by each target's file.
void run(ByteView input);

inline bool same(ByteView a, ByteView b) { return std::string_view(as_text(a)) == std::string_view(as_text(b)); }

/// Decodes a T and, when that succeeds, asks for the same bytes back.
template <class T>
std::optional<T> round_trip(ByteView input) {
    auto value = codec::decode<T>(input);
    if (!value) {
        return std::nullopt;
    }
    ASSERT(same(codec::encode(*value), input));
    return *std::move(value);
}

}  // namespace assay::fuzz
