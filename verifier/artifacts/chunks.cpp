// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/chunks.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <core/base/assert.hpp>
#include <core/dispute/rules.hpp>

namespace assay::artifacts {
namespace {

/// Below this size a dataset is fetched as a whole: a few requests bring all of it.
constexpr std::uint64_t kSmallBytes = 1U << 20U;
/// Hashes are kept in memory. Those of a dataset of 64 GiB have this size.
constexpr std::uint64_t kLeavesMaxBytes = 512U << 20U;
/// Chunks that are listed for some steps, repetitions included.
constexpr std::uint64_t kListMax = 1U << 24U;

/// The most chunks that a row lies in.
std::uint64_t chunks_per_row(const canonical::DatasetShape& shape) {
    return std::uint64_t{shape.width} * size_of(shape.storage) / canonical::kChunkBytes + 2;
}

bool may_list(std::uint64_t steps, std::uint64_t rows, std::uint64_t per_row) {
    return rows == 0 || steps == 0 || (rows <= kListMax / per_row && steps <= kListMax / per_row / rows);
}

}  // namespace

Bytes encode_chunk_leaves(const merkle::Tree& tree) {
    Bytes out;
    out.reserve(tree.leaf_count() * Hash256::kSizeBytes);
    for (std::uint64_t i = 0; i < tree.leaf_count(); ++i) {
        append(out, tree.node(0, i).view());
    }
    return out;
}

std::uint64_t chunk_leaves_bytes(const canonical::DatasetShape& shape) noexcept {
    return canonical::chunk_count(shape) * Hash256::kSizeBytes;
}

std::optional<merkle::Tree> decode_chunk_leaves(const ExpectedDataset& dataset, ByteView bytes) {
    if (bytes.size() != chunk_leaves_bytes(dataset.shape)) {
        return std::nullopt;
    }
    std::vector<Hash256> leaves(canonical::chunk_count(dataset.shape));
    for (Hash256& leaf : leaves) {
        std::copy_n(bytes.begin(), Hash256::kSizeBytes, leaf.data.begin());
        bytes = bytes.subspan(Hash256::kSizeBytes);
    }
    merkle::Tree tree(std::move(leaves));
    return tree.root() == dataset.root ? std::optional(std::move(tree)) : std::nullopt;
}

std::string encode_chunk_list(std::span<const std::uint64_t> chunks) {
    std::string out;
    for (const std::uint64_t chunk : chunks) {
        out += (out.empty() ? "" : ",") + std::to_string(chunk);
    }
    return out;
}

std::optional<std::vector<std::uint64_t>> decode_chunk_list(std::string_view text) {
    std::vector<std::uint64_t> out;
    for (bool is_last = false; !is_last;) {
        const std::size_t comma = text.find(',');
        const std::string_view word = text.substr(0, comma);
        std::uint64_t chunk = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), chunk);
        const bool is_number = error == std::errc{} && end == word.data() + word.size();
        const bool is_padded = word.size() > 1 && word.front() == '0';
        if (!is_number || is_padded || (!out.empty() && chunk <= out.back()) || out.size() == kChunksPerRequest) {
            return std::nullopt;
        }
        out.push_back(chunk);
        is_last = comma == std::string_view::npos;
        text.remove_prefix(is_last ? text.size() : comma + 1);
    }
    return out;
}

std::vector<std::uint32_t> batch_sizes_of(const canonical::Graph& graph) {
    std::vector<std::uint32_t> out;
    for (const canonical::Node& node : graph) {
        const bool is_known = std::find(out.begin(), out.end(), node.shape.rows) != out.end();
        if (node.op == canonical::Op::kBatchRows && !is_known) {
            out.push_back(node.shape.rows);
        }
    }
    return out;
}

std::optional<std::vector<std::uint64_t>> chunks_read(
    const canonical::DatasetShape& shape, const StepRange& steps, std::span<const std::uint32_t> batch_sizes
) {
    ASSERT(canonical::is_valid(shape));
    const std::uint64_t all = canonical::chunk_count(shape);
    if (canonical::byte_count(shape) < kSmallBytes || chunk_leaves_bytes(shape) > kLeavesMaxBytes) {
        return std::nullopt;
    }
    std::uint64_t rows = 0;
    for (const std::uint32_t size : batch_sizes) {
        rows += size;
    }
    if (!may_list(steps.count, rows, chunks_per_row(shape))) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> chunks;
    for (const std::uint64_t size : batch_sizes) {
        for (std::uint64_t i = 0; i < steps.count * size; ++i) {
            const std::uint64_t row = canonical::batch_row(steps.seed, steps.first * size + i, shape.rows);
            const auto range = dispute::chunks_of(shape, {.row = row, .first = 0, .count = shape.width});
            for (std::uint64_t chunk = range.first; chunk < range.first + range.count; ++chunk) {
                chunks.push_back(chunk);
            }
        }
    }
    std::sort(chunks.begin(), chunks.end());
    chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
    return 2 * chunks.size() < all ? std::optional(std::move(chunks)) : std::nullopt;
}

}  // namespace assay::artifacts
