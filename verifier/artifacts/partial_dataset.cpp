// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/partial_dataset.hpp>

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

std::filesystem::path path_of(
    const ContentStore& store, const Hash256& hash, const ExpectedDataset& dataset, const char* mark
) {
    const std::uint64_t size_bytes = canonical::byte_count(dataset.shape);
    return store.partial_path(hash, size_bytes).string() + mark + to_hex(dataset.root.view());
}

// What distinguishes the files from the unfinished download of the whole dataset.
constexpr const char* kChunksMark = "c";
constexpr const char* kLeavesMark = "l";
constexpr const char* kNewLeavesMark = "n";

}  // namespace

PartialDataset::PartialDataset(std::filesystem::path path, const canonical::DatasetShape& shape, merkle::Tree tree)
    : path_(std::move(path)), shape_(shape), tree_(std::move(tree)), file_(path_, O_RDWR | O_CREAT) {
    ASSERT(tree_.leaf_count() == canonical::chunk_count(shape_));
    file_.resize(canonical::byte_count(shape_));
}

PartialDataset PartialDataset::make(
    const ContentStore& store, const Hash256& hash, const ExpectedDataset& dataset, merkle::Tree tree
) {
    const std::filesystem::path temporary = path_of(store, hash, dataset, kNewLeavesMark);
    File(temporary, O_WRONLY | O_CREAT | O_TRUNC).write(encode_chunk_leaves(tree));
    std::error_code error;
    std::filesystem::rename(temporary, path_of(store, hash, dataset, kLeavesMark), error);
    if (error) {
        throw StoreError("cannot rename " + temporary.string() + ": " + error.message());
    }
    return PartialDataset(path_of(store, hash, dataset, kChunksMark), dataset.shape, std::move(tree));
}

std::optional<PartialDataset> PartialDataset::open(
    const ContentStore& store, const Hash256& hash, const ExpectedDataset& dataset
) {
    const auto stored = StoredFile::open(path_of(store, hash, dataset, kLeavesMark));
    auto tree = stored ? decode_chunk_leaves(dataset, stored->view()) : std::nullopt;
    if (!tree) {
        return std::nullopt;
    }
    return PartialDataset(path_of(store, hash, dataset, kChunksMark), dataset.shape, *std::move(tree));
}

std::uint64_t PartialDataset::size_of_chunk(std::uint64_t index) const {
    ASSERT(index < tree_.leaf_count());
    const std::uint64_t begin = index * canonical::kChunkBytes;
    return std::min<std::uint64_t>(canonical::kChunkBytes, canonical::byte_count(shape_) - begin);
}

std::optional<Bytes> PartialDataset::find(std::uint64_t index) const {
    Bytes bytes(size_of_chunk(index));
    file_.read_at(index * canonical::kChunkBytes, bytes);
    return dispute::chunk_leaf(bytes) == tree_.node(0, index) ? std::optional(std::move(bytes)) : std::nullopt;
}

bool PartialDataset::has_all(std::span<const std::uint64_t> chunks) const {
    return std::all_of(chunks.begin(), chunks.end(), [this](std::uint64_t chunk) { return has(chunk); });
}

bool PartialDataset::put(std::uint64_t index, ByteView bytes) const {
    if (bytes.size() != size_of_chunk(index) || dispute::chunk_leaf(bytes) != tree_.node(0, index)) {
        return false;
    }
    file_.write_at(index * canonical::kChunkBytes, bytes);
    return true;
}

Bytes PartialDataset::chunk(std::uint64_t index) const {
    auto found = find(index);
    if (!found) {
        throw StoreError("chunk " + std::to_string(index) + " of the dataset in " + path_.string() + " is not there");
    }
    return *std::move(found);
}

Bytes PartialDataset::read(std::uint64_t begin, std::uint64_t size_bytes) const {
    Bytes out;
    out.reserve(size_bytes);
    while (out.size() < size_bytes) {
        const std::uint64_t at = begin + out.size();
        const std::uint64_t offset = at % canonical::kChunkBytes;
        const Bytes found = chunk(at / canonical::kChunkBytes);
        ASSERT(offset < found.size());
        append(out, ByteView(found).subspan(offset, std::min(size_bytes - out.size(), found.size() - offset)));
    }
    return out;
}

}  // namespace assay::artifacts
