// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/canonical/dataset.hpp>
#include <core/canonical/executor.hpp>
#include <core/merkle/tree.hpp>

/// Which chunks of a dataset a computation reads, and how chunks are named and checked (ART-17 to ART-19).
namespace assay::artifacts {

/// What is known of a task's dataset before it is there.
struct ExpectedDataset {
    canonical::DatasetShape shape;
    Hash256 root;
};

/// ART-17: the hashes of a dataset's chunks as a file, one after another.
Bytes encode_chunk_leaves(const merkle::Tree& tree);
/// Size of encode_chunk_leaves() in bytes.
std::uint64_t chunk_leaves_bytes(const canonical::DatasetShape& shape) noexcept;
/// Returns the dataset's tree; nullopt unless the bytes are the hashes of the chunks of the dataset with this root.
std::optional<merkle::Tree> decode_chunk_leaves(const ExpectedDataset& dataset, ByteView bytes);

/// ART-18: the most chunks that one request names.
inline constexpr std::size_t kChunksPerRequest = 256;
/// ART-18: the numbers in decimal, separated by commas.
std::string encode_chunk_list(std::span<const std::uint64_t> chunks);
/// Returns nullopt unless the text is what encode_chunk_list() makes of 1 to kChunksPerRequest ascending numbers.
std::optional<std::vector<std::uint64_t>> decode_chunk_list(std::string_view text);

/// Steps of a graph that are executed one after another.
struct StepRange {
    std::uint64_t seed = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};
/// Returns the chunks that the batches of the steps are in, ascending, when each step reads `batch_sizes` batches of so
/// many rows. Returns nullopt where the whole file is as well fetched: if the dataset is small, its hashes are too
/// many to be kept in memory, or the steps read half of it (ART-19).
std::optional<std::vector<std::uint64_t>> chunks_read(
    const canonical::DatasetShape& shape, const StepRange& steps, std::span<const std::uint32_t> batch_sizes
);
/// The rows of each batch that the graph reads.
std::vector<std::uint32_t> batch_sizes_of(const canonical::Graph& graph);

}  // namespace assay::artifacts
