// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// The part of the long tier that one process runs. tools/long_tier.py sets it.
namespace assay::test {

struct Shard {
    std::uint64_t index = 0;  ///< from 0
    std::uint64_t count = 1;
    std::uint64_t round = 1;  ///< rounds have different seeds
};

/// Returns the shard of ASSAY_SHARD=INDEX/COUNT (from 1) and ASSAY_ROUND. Without them: everything, in round 1. Ends
/// the process with exit code 2 if ASSAY_SHARD is not such a pair.
inline Shard shard_from_environment() {
    Shard out;
    if (const char* text = std::getenv("ASSAY_SHARD")) {
        char* slash = nullptr;
        const std::uint64_t index = std::strtoull(text, &slash, 10);
        char* end = slash;
        const std::uint64_t count = *slash == '/' ? std::strtoull(slash + 1, &end, 10) : 0;
        if (*end != '\0' || index < 1 || index > count) {
            std::fprintf(stderr, "ASSAY_SHARD is INDEX/COUNT, such as 1/4, not %s\n", text);
            std::exit(2);
        }
        out.index = index - 1;
        out.count = count;
    }
    if (const char* text = std::getenv("ASSAY_ROUND")) {
        out.round = std::max(1ULL, std::strtoull(text, nullptr, 10));
    }
    return out;
}

struct Seeds {
    std::uint64_t first = 1;
    std::uint64_t last = 0;  ///< less than `first` if the shard has none of them
};

/// Returns the shard's part of the seeds `first` to `last`. Every seed of a round is in exactly one shard.
inline Seeds seeds_of(const Shard& shard, std::uint64_t first, std::uint64_t last) {
    constexpr std::uint64_t kRound = 1'000'000'000;
    const std::uint64_t count = last - first + 1;
    const std::uint64_t begin = first + (shard.round - 1) * kRound;
    return {
        .first = begin + count * shard.index / shard.count,
        .last = begin + count * (shard.index + 1) / shard.count - 1};
}

/// Returns the first seed of a shard that goes on until it has done its part of something counted, which takes fewer
/// than a million seeds.
inline std::uint64_t first_seed_of(const Shard& shard) {
    constexpr std::uint64_t kMost = 1'000'000;
    return seeds_of(shard, 1, kMost * shard.count).first;
}

/// Returns the shard's part of `total`, at least 1.
inline std::uint64_t part_of(const Shard& shard, std::uint64_t total) {
    return std::max<std::uint64_t>(1, total / shard.count);
}

}  // namespace assay::test
