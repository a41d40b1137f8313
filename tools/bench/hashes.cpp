// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <core/base/assert.hpp>
#include <core/crypto/hash_batch.hpp>
#include <tools/bench/commands.hpp>
#include <tools/bench/measure.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

struct HashesOptions {
    std::vector<std::size_t> bytes{1'024, 4'096, 8'192};  ///< tiles of int8, f32 and i64
    std::vector<std::size_t> at_once{1, 2, 4, 16, 64};
    int rounds = 9;
};

constexpr std::size_t kBytesInRound = std::size_t{16} << 20U;

// Hashes so many messages one by one and at once, in turns.
json compare(std::size_t bytes, std::size_t at_once, int rounds) {
    const crypto::TaggedHash tag("assay/tile");
    const std::size_t batches = std::max<std::size_t>(1, kBytesInRound / (bytes * at_once));
    Bytes data(bytes * at_once);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    }
    const auto message = [&](std::size_t i) { return ByteView(data).subspan(i * bytes, bytes); };
    const double total = static_cast<double>(batches * at_once * bytes);
    std::vector<double> single;
    std::vector<double> batched;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        std::vector<Hash256> one(at_once);
        const Stopwatch first;
        for (std::size_t batch = 0; batch < batches; ++batch) {
            for (std::size_t i = 0; i < at_once; ++i) {
                one[i] = tag(message(i));
            }
        }
        single.push_back(first.seconds() / total * 1e9);
        std::vector<Hash256> all;
        crypto::HashBatch together(tag);
        const Stopwatch second;
        for (std::size_t batch = 0; batch < batches; ++batch) {
            for (std::size_t i = 0; i < at_once; ++i) {
                together.add(message(i));
            }
            all = together.finish();
        }
        batched.push_back(second.seconds() / total * 1e9);
        ratios.push_back(batched.back() / single.back());
        ASSERT(all == one);
    }
    return {
        {"bytes", bytes},
        {"at_once", at_once},
        {"ns_per_byte_one_by_one", spread(single)},
        {"ns_per_byte_batch", spread(batched)},
        {"batch_over_one_by_one", spread(ratios)}};
}

}  // namespace

void add_hashes_command(Commands& commands) {
    const auto held = std::make_shared<HashesOptions>();
    CLI::App* const hashes =
        commands.add("hashes", "Hashes of tiles several at once beside one by one, copies included", [held] {
            json cases = json::array();
            for (const std::size_t bytes : held->bytes) {
                for (const std::size_t at_once : held->at_once) {
                    cases.push_back(compare(bytes, at_once, held->rounds));
                }
            }
            return json{{"bench", "hashes"}, {"cases", cases}}.dump(2);
        });
    hashes->add_option("--bytes", held->bytes, "Of a message")->capture_default_str()->check(CLI::Range(1, 1 << 20));
    hashes->add_option("--at-once", held->at_once, "Messages in a batch")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    hashes->add_option("--rounds", held->rounds, "Of each kind, in turns")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
}

}  // namespace assay::bench
