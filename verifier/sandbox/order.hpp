// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// Internal to the sandbox: what the caller and the program that parses agree on.
namespace assay::sandbox {

// The program's descriptors, besides the three standard ones, which lead to /dev/null.
inline constexpr int kOrderDescriptor = 3;   ///< the order, to read
inline constexpr int kOutputDescriptor = 4;  ///< the answer, to write
inline constexpr int kFirstFile = 5;         ///< the files, to read

/// What the program is to do. The caller wrote all of it.
struct Order {
    std::string parser;
    Bytes config;  ///< the parser's own
    std::uint64_t memory_bytes = 0;
    std::uint64_t output_bytes = 0;
    std::uint32_t cpu_s = 0;
    std::vector<std::uint64_t> file_bytes{};  ///< the sizes of its files
    static constexpr auto fields() {
        return Fields<
            &Order::parser, &Order::config, &Order::memory_bytes, &Order::output_bytes, &Order::cpu_s,
            &Order::file_bytes>{};
    }
};

// How it ends. 0: the answer is complete. A parser that was taken over may choose; then the message is wrong, and no
// more than the message.
inline constexpr int kEndedSetup = 70;  ///< the sandbox could not be closed; the output says why
inline constexpr int kEndedMemory = 71;
inline constexpr int kEndedFile = 72;
inline constexpr int kEndedSocket = 73;
inline constexpr int kEndedOutput = 74;
inline constexpr int kEndedCrash = 75;  ///< an exception that nobody caught, or a sanitizer's report

/// Whether an address-space limit would keep a sanitizer's shadow memory from being mapped.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHasShadowMemory = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kHasShadowMemory = true;
#else
inline constexpr bool kHasShadowMemory = false;
#endif
#else
inline constexpr bool kHasShadowMemory = false;
#endif

}  // namespace assay::sandbox
