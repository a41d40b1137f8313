// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/files/open_group.hpp>

#include <algorithm>
#include <atomic>

#include <core/dispute/commitment.hpp>
#include <core/sealed/chunk_key.hpp>

namespace assay::sealed {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

/// The lowest number that was noted; noted by several threads.
class Lowest {
  public:
    void note(std::uint64_t number) {
        std::uint64_t known = value_;
        while (number < known && !value_.compare_exchange_weak(known, number)) {
        }
    }
    std::uint64_t get() const { return value_; }

  private:
    std::atomic<std::uint64_t> value_{kNone};
};

ChunkName name_of(const OpenFile& open, std::uint32_t group, std::uint32_t chunk) {
    return {.task = open.reader.artifact.task, .artifact = open.reader.artifact.name, .group = group, .chunk = chunk};
}

/// The plaintext of a chunk that folds to what it should; nullopt otherwise. `expected` is null of the list's top.
std::optional<Bytes> open_one(
    const OpenFile& open, const OpenGroup& group, std::uint64_t number, const Hash256* expected
) {
    const auto chunk = static_cast<std::uint32_t>(number);
    const Layout& layout = open.checked.layout;
    Bytes sealed(layout.sealed_bytes(group.index, chunk));
    open.file.read(layout.offset(group.index, chunk), sealed);
    auto plaintext = open_chunk(open.reader.secret, name_of(open, group.index, chunk), sealed);
    if (!plaintext) {
        return std::nullopt;
    }
    const auto node = group.ladder.fold(group.ladder.place(chunk), *plaintext);
    if (!node) {
        return std::nullopt;
    }
    const bool is_right =
        expected != nullptr ? *node == *expected
                            : dispute::state_root_from(static_cast<std::uint32_t>(group.ladder.leaf_count()), *node) ==
                                  open.reader.artifact.name;
    return is_right ? std::move(plaintext) : std::nullopt;
}

/// Opens the chunks of one level. `expected` are the nodes that they should fold to; with none, the state root says it
/// of the one chunk. Returns the number within the level of the first chunk that is wrong, or kNone.
std::uint64_t open_level(
    const OpenFile& open, const OpenGroup& group, std::uint32_t level, const std::vector<Hash256>& expected,
    const ChunkSink& out
) {
    const std::uint64_t chunks = group.ladder.chunks_of(level);
    const std::uint64_t first_of_level = group.ladder.first_chunk(level);
    Lowest wrong;
    for (std::uint64_t first = 0; first < chunks && wrong.get() == kNone; first += kBatchChunks) {
        const std::uint64_t count = std::min(kBatchChunks, chunks - first);
        for_each_number(count, open.meter.threads(), [&](std::uint64_t i) {
            const std::uint64_t index = first + i;
            if (index > wrong.get()) {
                return;
            }
            const Hash256* const node = expected.empty() ? nullptr : &expected[index];
            if (const auto plaintext = open_one(open, group, first_of_level + index, node)) {
                out(group.ladder.place(first_of_level + index), *plaintext);
            } else {
                wrong.note(index);
            }
        });
        open.meter.add(count);
    }
    return wrong.get();
}

}  // namespace

WrongChunk evidence_of(
    const OpenFile& open, std::uint32_t group, std::uint32_t chunk, const std::optional<TensorEntry>& tensor,
    const Hash256& expected, std::vector<Hash256> expected_path
) {
    const ChunkName name = name_of(open, group, chunk);
    return {
        .opening = open_sealed(open.file, open.checked, group, chunk),
        .point = chunk_point(open.reader.secret, name),
        .proof = prove_chunk_point(open.reader.secret, name, open.reader.reporter, open.reader.aux),
        .tensor = tensor,
        .expected = expected,
        .expected_path = std::move(expected_path),
    };
}

std::optional<WrongChunk> open_group(const OpenFile& open, const OpenGroup& group, const ChunkSink& out) {
    const Ladder& ladder = group.ladder;
    if (open.checked.layout.chunk_count(group.index) != ladder.chunk_count()) {
        return evidence_of(open, group.index, 0, group.tensor, {}, {});
    }
    std::vector<Hash256> expected;
    if (group.tensor) {
        expected.push_back(group.tensor->tile_root);
    }
    for (std::uint32_t level = ladder.level_count(); level-- > 0;) {
        std::vector<Hash256> below(level == 0 ? 0 : ladder.chunks_of(level - 1));
        const ChunkSink keep = [&below](const ChunkPlace& place, ByteView hashes) {
            for (std::uint32_t i = 0; i < place.item_count; ++i) {
                const ByteView hash = hashes.subspan(std::size_t{i} * Hash256::kSizeBytes, Hash256::kSizeBytes);
                std::copy(hash.begin(), hash.end(), below[place.first_item + i].data.begin());
            }
        };
        const std::uint64_t wrong = open_level(open, group, level, expected, level == 0 ? out : keep);
        if (wrong != kNone) {
            const std::uint64_t chunk = ladder.first_chunk(level) + wrong;
            const std::uint32_t height = ladder.place(chunk).node_height;
            return evidence_of(
                open, group.index, static_cast<std::uint32_t>(chunk), group.tensor,
                expected.empty() ? Hash256{} : expected[wrong],
                expected.empty() ? std::vector<Hash256>{} : path_among(expected, wrong, height, ladder.root_height())
            );
        }
        expected = std::move(below);
    }
    return std::nullopt;
}

}  // namespace assay::sealed
