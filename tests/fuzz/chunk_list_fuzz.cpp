// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include <tests/fuzz/fuzz.hpp>
#include <verifier/artifacts/chunks.hpp>

/// What strangers send about chunks: a list of them in a request, and their hashes in an answer.
namespace assay::fuzz {

void run(ByteView input) {
    if (const auto list = artifacts::decode_chunk_list(as_text(input))) {
        ASSERT(!list->empty() && list->size() <= artifacts::kChunksPerRequest);
        ASSERT(std::adjacent_find(list->begin(), list->end(), std::greater_equal<>()) == list->end());
        ASSERT(artifacts::encode_chunk_list(*list) == as_text(input));
    }
    const std::uint64_t chunks = input.size() / 32;
    const artifacts::ExpectedDataset dataset{
        .shape = {.rows = std::max<std::uint64_t>(1, chunks), .width = canonical::kChunkBytes / 4}, .root = {}};
    // Nobody has hashes with the root that consists of zeros, but of a single chunk.
    const auto tree = artifacts::decode_chunk_leaves(dataset, input);
    ASSERT(!tree || (chunks == 1 && artifacts::encode_chunk_leaves(*tree) == Bytes(32)));
}

}  // namespace assay::fuzz
