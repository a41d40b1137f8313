// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/sealed_tree.hpp>

#include <array>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>
#include <core/sealed/piece.hpp>
#include <tests/unit/sealed/sealed_state.hpp>

namespace assay::sealed {
namespace {

using testing::hash_numbered;

SealedLeaves leaves_of(const std::vector<std::size_t>& groups) {
    SealedLeaves out;
    std::uint64_t number = 0;
    for (const std::size_t size : groups) {
        auto& group = out.emplace_back();
        for (std::size_t i = 0; i < size; ++i) {
            group.push_back(hash_numbered(number++));
        }
    }
    return out;
}

FormatError error_of(const SealedHeader& header, std::uint64_t file_bytes) {
    return decode_header(encode_header(header), file_bytes).error();
}

TEST_CASE("SEA-10: a chunk's leaf is over its size and its pieces, of which each can be shown alone") {
    const crypto::TaggedHash of_piece("assay/sealed-piece");
    const crypto::TaggedHash of_chunk("assay/sealed-chunk");
    const Bytes sealed{1, 2, 3};
    CHECK(sealed_leaf(sealed) == of_chunk(Bytes{3, 0, 0, 0}, of_piece(sealed).view()));
    CHECK(sealed_leaf({}) == of_chunk(Bytes{0, 0, 0, 0}, of_piece({}).view()));
    Bytes whole(4'096 + 5, 7);
    const ByteView both(whole);
    const std::array<Hash256, 2> pieces{of_piece(both.first(4'096)), of_piece(both.subspan(4'096))};
    CHECK(sealed_leaf(whole) == of_chunk(Bytes{5, 16, 0, 0}, merkle::root_of(pieces).view()));
}

TEST_CASE("SEA-10: each piece of each chunk leads to the sealed root, and nothing else does") {
    SealedLeaves leaves;
    std::vector<std::vector<Bytes>> chunks{{Bytes(16'400, 1), Bytes(4'096, 2)}, {Bytes(17, 3)}, {Bytes(4'097, 4)}};
    for (const auto& group : chunks) {
        auto& hashes = leaves.emplace_back();
        for (const Bytes& chunk : group) {
            hashes.push_back(sealed_leaf(chunk));
        }
    }
    const Hash256 root = sealed_root(leaves);
    for (std::uint32_t group = 0; group < chunks.size(); ++group) {
        for (std::uint32_t chunk = 0; chunk < chunks[group].size(); ++chunk) {
            const SealedOpening whole = open_leaf(leaves, group, chunk, chunks[group][chunk]);
            for (std::uint32_t piece = 0; piece < piece_count(static_cast<std::uint32_t>(whole.bytes.size()));
                 ++piece) {
                const PieceOpening right = open_piece(whole, piece);
                REQUIRE(is_well_formed(right));
                CHECK(sealed_root_of(right) == root);
                PieceOpening wrong = right;
                wrong.bytes[0] ^= 1U;
                CHECK(sealed_root_of(wrong) != root);
                wrong = right;
                wrong.bytes.pop_back();
                CHECK_FALSE(is_well_formed(wrong));
                wrong = right;
                wrong.piece += piece_count(right.size);
                CHECK_FALSE(is_well_formed(wrong));
                wrong = right;
                wrong.group_path.emplace_back();
                CHECK_FALSE(is_well_formed(wrong));
                wrong = right;
                wrong.size = kSealedChunkBytes + 1;
                CHECK_FALSE(is_well_formed(wrong));
            }
        }
    }
    PieceOpening none;
    CHECK_FALSE(is_well_formed(none));
}

TEST_CASE("SEA-11: a group's commitment has the number of its chunks") {
    const SealedLeaves leaves = leaves_of({3});
    const Hash256 root = merkle::root_of(leaves[0]);
    const Bytes count{3, 0, 0, 0};
    CHECK(group_commitment(3, root) == crypto::TaggedHash("assay/sealed-group")(count, root.view()));
    CHECK(group_commitment(3, root) != group_commitment(4, root));
}

TEST_CASE("SEA-12: the sealed root has the number of groups") {
    const SealedLeaves leaves = leaves_of({3, 1});
    std::vector<Hash256> commitments;
    for (const auto& group : leaves) {
        commitments.push_back(group_commitment(static_cast<std::uint32_t>(group.size()), merkle::root_of(group)));
    }
    const Bytes count{2, 0, 0, 0};
    CHECK(sealed_root(leaves) == crypto::TaggedHash("assay/sealed")(count, merkle::root_of(commitments).view()));
    // Where chunks end and groups begin is a part of it.
    SealedLeaves moved = leaves;
    moved[1].insert(moved[1].begin(), moved[0].back());
    moved[0].pop_back();
    CHECK(sealed_root(moved) != sealed_root(leaves));
}

TEST_CASE("SEA-13: a header says where chunks lie") {
    SealedHeader header;
    header.groups = {
        {{{.chunks = 1, .bytes = 50}, {.chunks = 3, .bytes = 16'400}, {.chunks = 1, .bytes = 16}}},
        {{{.chunks = 2, .bytes = 20}}}};
    const Bytes encoded = encode_header(header);
    const std::uint64_t size = encoded.size() + 50 + 3 * 16'400 + 16 + 2 * 20;
    const auto layout = decode_header(encoded, size);
    REQUIRE(layout.has_value());
    CHECK(layout->header() == header);
    CHECK(layout->file_bytes() == size);
    CHECK(layout->chunk_count() == 7);
    std::uint64_t at = encoded.size();
    for (std::uint32_t group = 0; group < 2; ++group) {
        for (std::uint32_t chunk = 0; chunk < layout->chunk_count(group); ++chunk) {
            CHECK(layout->offset(group, chunk) == at);
            at += layout->sealed_bytes(group, chunk);
        }
    }
    CHECK(at == size);
    CHECK(decode_header(encoded, size + 1).error() == FormatError::kFileSize);
    CHECK(decode_header(encoded, size - 1).error() == FormatError::kFileSize);
    for (std::size_t i = 0; i < encoded.size(); ++i) {
        CHECK_FALSE(decode_header(ByteView(encoded).first(i), size).has_value());
    }
}

TEST_CASE("SEA-13: headers that no file has are refused before anything is allocated for them") {
    const auto with = [](std::vector<ChunkRun> runs) {
        SealedHeader header;
        header.groups = {{std::move(runs)}};
        return header;
    };
    CHECK(error_of({.version = 2, .groups = {{{{.chunks = 1, .bytes = 16}}}}}, 0) == FormatError::kVersion);
    CHECK(error_of({}, 0) == FormatError::kGroups);
    CHECK(error_of(with({}), 0) == FormatError::kGroups);
    CHECK(error_of(with({{.chunks = 0, .bytes = 16}}), 0) == FormatError::kGroups);
    CHECK(
        error_of(with({{.chunks = 0xffff'ffff, .bytes = 16}, {.chunks = 1, .bytes = 17}}), 0) == FormatError::kGroups
    );
    CHECK(error_of(with({{.chunks = 1, .bytes = 15}}), 0) == FormatError::kChunkSize);
    CHECK(error_of(with({{.chunks = 1, .bytes = 16'401}}), 0) == FormatError::kChunkSize);
    CHECK(error_of(with({{.chunks = 1, .bytes = 16}, {.chunks = 1, .bytes = 16}}), 0) == FormatError::kChunkSize);
    std::vector<ChunkRun> runs;
    for (std::uint32_t i = 0; i < 17; ++i) {
        runs.push_back({.chunks = 1, .bytes = 16 + i % 2});
    }
    CHECK(error_of(with(runs), 0) == FormatError::kGroups);
    SealedHeader many;
    many.groups.assign(kMaxGroups + 1, {{{.chunks = 1, .bytes = 16}}});
    CHECK(error_of(many, 0) == FormatError::kGroups);
    many.groups.assign(kMaxGroups, {std::vector<ChunkRun>(kMaxRuns, ChunkRun{.chunks = 1, .bytes = 16})});
    CHECK(encode_header(many).size() == 4 + kMaxHeaderBytes);
    // The limit of small chunks: 2^18 and one for each 4,096 bytes.
    for (const std::uint32_t chunks : {263'168U, 263'169U, 263'175U}) {
        const SealedHeader small = with({{.chunks = chunks, .bytes = 16}});
        const std::uint64_t size = encode_header(small).size() + 16 * std::uint64_t{chunks};
        CHECK(decode_header(encode_header(small), size).has_value() == (chunks <= (1U << 18U) + size / 4'096));
    }
    CHECK(error_of(with({{.chunks = 1U << 20U, .bytes = 16}}), 24 + (16U << 20U)) == FormatError::kSmallChunks);
    // 4 GiB of header are announced, and a number of groups that the header does not have.
    CHECK(decode_header(Bytes(4, 0xff), 100).error() == FormatError::kHeader);
    CHECK(decode_header(Bytes{8, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, 100).error() == FormatError::kHeader);
    CHECK(decode_header(Bytes{3, 0, 0}, 3).error() == FormatError::kTruncated);
    CHECK(decode_header(Bytes{9, 0, 0, 0, 1}, 5).error() == FormatError::kTruncated);
}

TEST_CASE("SEA-14: a file of other bytes has one group of whole chunks and a rest") {
    for (const auto& [bytes, chunks, last] :
         {std::tuple{0U, 1U, 16U}, std::tuple{1U, 1U, 17U}, std::tuple{16'383U, 1U, 16'399U},
          std::tuple{16'384U, 1U, 16'400U}, std::tuple{16'385U, 2U, 17U}, std::tuple{49'152U, 3U, 16'400U}}) {
        const auto layout = layout_of_blob(bytes);
        REQUIRE(layout.has_value());
        CHECK(layout->group_count() == 1);
        CHECK(layout->chunk_count(0) == chunks);
        CHECK(layout->sealed_bytes(0, chunks - 1) == last);
        CHECK(layout->file_bytes() == encode_header(layout->header()).size() + bytes + 16 * chunks);
    }
    CHECK_FALSE(layout_of_blob(~std::uint64_t{0}).has_value());
}

TEST_CASE("SEA-15: an opening leads to the root from every chunk and from no other place") {
    for (const auto& sizes : {std::vector<std::size_t>{1}, {2}, {1, 1}, {5, 1, 3}, {9, 2, 1, 1, 4}}) {
        SealedLeaves leaves;
        std::vector<std::vector<Bytes>> chunks;
        std::uint8_t number = 0;
        for (const std::size_t size : sizes) {
            auto& group = chunks.emplace_back();
            auto& hashes = leaves.emplace_back();
            for (std::size_t i = 0; i < size; ++i) {
                group.push_back(Bytes(20, number++));
                hashes.push_back(sealed_leaf(group.back()));
            }
        }
        const Hash256 root = sealed_root(leaves);
        for (std::uint32_t group = 0; group < leaves.size(); ++group) {
            for (std::uint32_t chunk = 0; chunk < leaves[group].size(); ++chunk) {
                const SealedOpening right = open_leaf(leaves, group, chunk, chunks[group][chunk]);
                REQUIRE(is_well_formed(right));
                CHECK(sealed_root_of(right) == root);
                for (std::uint32_t SealedOpening::*const field :
                     {&SealedOpening::groups, &SealedOpening::group, &SealedOpening::chunks, &SealedOpening::chunk}) {
                    for (const std::uint32_t delta : {1U, 2U, ~0U}) {
                        SealedOpening wrong = right;
                        wrong.*field += delta;
                        CHECK((!is_well_formed(wrong) || sealed_root_of(wrong) != root));
                    }
                }
                SealedOpening wrong = right;
                wrong.bytes.push_back(0);
                CHECK(sealed_root_of(wrong) != root);
            }
        }
    }
}

TEST_CASE("SEA-15: openings of impossible sizes are not well-formed") {
    const SealedOpening right = open_leaf(leaves_of({5, 1, 3}), 0, 4, Bytes(kSealedChunkBytes));
    REQUIRE(is_well_formed(right));
    SealedOpening wrong = right;
    wrong.bytes.push_back(0);
    CHECK_FALSE(is_well_formed(wrong));
    wrong = right;
    wrong.chunk_path.pop_back();
    CHECK_FALSE(is_well_formed(wrong));
    wrong = right;
    wrong.group_path.emplace_back();
    CHECK_FALSE(is_well_formed(wrong));
    wrong = right;
    wrong.chunk = 5;
    CHECK_FALSE(is_well_formed(wrong));
    wrong = right;
    wrong.group = 3;
    CHECK_FALSE(is_well_formed(wrong));
    CHECK_FALSE(is_well_formed(SealedOpening{}));
    wrong.groups = kMaxGroups + 1;
    wrong.group = 0;
    wrong.group_path.resize(13);
    CHECK_FALSE(is_well_formed(wrong));
    wrong.groups = kMaxGroups;
    CHECK(is_well_formed(wrong));
    CHECK(sealed_root_of(wrong) != sealed_root_of(right));
}

}  // namespace
}  // namespace assay::sealed
