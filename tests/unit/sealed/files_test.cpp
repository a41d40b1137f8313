// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/files/open.hpp>

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include <core/canonical/tile.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/sealed/sealed_state.hpp>

namespace assay::sealed {
namespace {

using canonical::DType;
using testing::Sealed;

SealedFile sealed_blob(const Bytes& blob, const TaskSecret& secret, const Artifact& artifact) {
    return seal_blob(ByteView(blob), secret, artifact).value();
}

Bytes random_bytes(std::size_t size, std::uint64_t seed) {
    testing::Random random(seed);
    Bytes out(size);
    for (std::uint8_t& byte : out) {
        byte = static_cast<std::uint8_t>(random());
    }
    return out;
}

bool contains(ByteView all, ByteView part) {
    return std::search(all.begin(), all.end(), part.begin(), part.end()) != all.end();
}

TEST_CASE("SEA-7: a sealed state opens to the same tensors and shows none of their bytes") {
    testing::Random random(11);
    for (int round = 0; round < 20; ++round) {
        const Sealed sealed(testing::random_state(random), static_cast<std::uint64_t>(round));
        CHECK(check_sealed(ByteView(sealed.file.bytes)).value() == sealed.file.root);
        const auto opened = sealed.open(sealed.file, 1 + static_cast<unsigned>(round % 3));
        REQUIRE(opened.has_value());
        CHECK(*opened == sealed.state);
        CHECK(layout_of_state(sealed.types)->file_bytes() == sealed.file.bytes.size());
        for (const canonical::Tensor& tensor : sealed.state) {
            const ByteView data(tensor.data);
            CHECK((data.size() < 16 || !contains(sealed.file.bytes, data.first(16))));
        }
    }
}

TEST_CASE("SEA-7: the file does not depend on threads or on whether the state is in memory") {
    struct OneAtATime final : TensorSource {
        explicit OneAtATime(const Sealed& of) : sealed(of) {}
        std::vector<canonical::TensorType> types() const override { return sealed.types; }
        const canonical::Tensor& tensor(std::uint32_t index) override {
            current = sealed.state[index];
            return current;
        }
        const Sealed& sealed;
        canonical::Tensor current;
    };
    testing::Random random(12);
    const Sealed sealed(testing::random_state(random));
    OneAtATime source(sealed);
    Bytes file;
    std::uint64_t last = 0;
    std::uint64_t all = 0;
    const Effort effort{.threads = 3, .progress = [&](std::uint64_t done, std::uint64_t of) {
                            CHECK(done > last);
                            last = done;
                            all = of;
                        }};
    const auto leaves = seal_state(
        source, sealed.secret, sealed.artifact, [&file](ByteView part) { append(file, part); }, effort
    );
    REQUIRE(leaves.has_value());
    CHECK(file == sealed.file.bytes);
    CHECK(sealed_root(*leaves) == sealed.file.root);
    CHECK(last == all);
    CHECK(all == layout_of_state(sealed.types)->chunk_count());
}

TEST_CASE("SEA-7: states of hundreds of tensors and tensors of three levels open again" * doctest::test_suite("full")) {
    std::vector<canonical::Tensor> state;
    for (std::uint64_t i = 0; i < 300; ++i) {
        state.push_back(testing::make_tensor(DType::kF32, {.rows = 1, .cols = 2}, i));
    }
    state.push_back(testing::make_tensor(DType::kI64, {.rows = 1'025 * 32, .cols = 32}, 7));
    const Sealed sealed(std::move(state));
    CHECK(Ladder::of_tensor(sealed.types.back()).level_count() == 3);
    const auto opened = sealed.open(sealed.file, 2);
    REQUIRE(opened.has_value());
    CHECK(*opened == sealed.state);
    // A tile near the end is altered by whoever seals it: the chunk that is named is its own, and not one above.
    testing::Chunks chunks = testing::chunks_of(sealed.file.bytes);
    const auto group = static_cast<std::uint32_t>(sealed.types.size());
    const auto chunk = static_cast<std::uint32_t>(chunks[group].size() - 2);
    Bytes plaintext = *open_chunk(sealed.secret, sealed.name(group, chunk), chunks[group][chunk]);
    plaintext[100] ^= 1U;
    chunks[group][chunk] = seal_chunk(sealed.secret, sealed.name(group, chunk), plaintext);
    const SealedFile wrong = testing::assemble(chunks);
    const auto failure = sealed.open(wrong, 2);
    REQUIRE(!failure);
    const auto& evidence = std::get<WrongChunk>(failure.error());
    CHECK(evidence.opening.chunk == chunk);
    CHECK(judge(evidence, sealed.context(wrong.root)).value() == ChunkFault::kContents);
    // The same of the list of tensors, whose second chunk is under a level of one.
    chunks = testing::chunks_of(sealed.file.bytes);
    std::swap(chunks[0][1], chunks[0][2]);
    const SealedFile swapped = testing::assemble(chunks);
    const auto list = sealed.open(swapped);
    REQUIRE(!list);
    CHECK(std::get<WrongChunk>(list.error()).opening.chunk == 1);
    CHECK(judge(std::get<WrongChunk>(list.error()), sealed.context(swapped.root)).value() == ChunkFault::kUnopened);
}

TEST_CASE("SEA-7: only the state of the given root is sealed and no empty place") {
    testing::Random random(13);
    const Sealed sealed(testing::random_state(random));
    const std::span<const canonical::Tensor> state(sealed.state);
    Artifact other = sealed.artifact;
    other.name = testing::hash_numbered(5);
    CHECK(seal_state(state, sealed.secret, other).error() == SealError::kArtifact);
    std::vector<canonical::Tensor> with_gap = sealed.state;
    with_gap.push_back({});
    CHECK(
        seal_state(std::span<const canonical::Tensor>(with_gap), sealed.secret, sealed.artifact).error() ==
        SealError::kTensors
    );
    CHECK(seal_state(std::span<const canonical::Tensor>(), sealed.secret, other).error() == SealError::kTensors);
    CHECK_FALSE(layout_of_state(std::vector<canonical::TensorType>(4'097, sealed.types[0])).has_value());
}

TEST_CASE("SEA-13: every cut and every altered byte of a sealed file is noticed without a key") {
    testing::Random random(14);
    const Sealed sealed({testing::make_tensor(DType::kI8, {.rows = 3, .cols = 3}, 1)});
    const Bytes& file = sealed.file.bytes;
    for (std::size_t i = 0; i < file.size(); i += 1 + random() % 40) {
        CHECK_FALSE(check_sealed(ByteView(file).first(i)).has_value());
        Bytes altered = file;
        altered[i] ^= static_cast<std::uint8_t>(1U << random() % 8);
        const auto root = check_sealed(ByteView(altered));
        CHECK((!root || *root != sealed.file.root));
        const auto opened = sealed.open({.bytes = altered, .root = sealed.file.root});
        REQUIRE(!opened);
        const auto error = std::get<OpenError>(opened.error());
        CHECK((error == OpenError::kFormat || error == OpenError::kRoot));
    }
    CHECK(check_sealed(ByteView()).error() == FormatError::kTruncated);
    Bytes longer = file;
    longer.push_back(0);
    CHECK(check_sealed(ByteView(longer)).error() == FormatError::kFileSize);
}

TEST_CASE("SEA-14: other files open to the same bytes under their own names") {
    const TaskSecret secret = testing::secret_numbered(1);
    for (const std::size_t size : {0U, 1U, 16'383U, 16'384U, 16'385U, 100'000U}) {
        const Bytes blob = random_bytes(size, size);
        const Artifact artifact{.task = testing::hash_numbered(1), .name = crypto::sha256(blob)};
        const SealedFile sealed = sealed_blob(blob, secret, artifact);
        CHECK(check_sealed(ByteView(sealed.bytes)).value() == sealed.root);
        CHECK(open_blob(sealed.bytes, secret, artifact, sealed.root, {.threads = 2}).value() == blob);
        CHECK(
            open_blob(sealed.bytes, testing::secret_numbered(2), artifact, sealed.root).error() == OpenError::kContents
        );
        CHECK(open_blob(sealed.bytes, secret, artifact, testing::hash_numbered(3)).error() == OpenError::kRoot);
        CHECK(open_blob(ByteView(), secret, artifact, sealed.root).error() == OpenError::kFormat);
        Artifact other = artifact;
        other.task = testing::hash_numbered(2);
        CHECK(open_blob(sealed.bytes, secret, other, sealed.root).error() == OpenError::kContents);
        other = artifact;
        other.name = testing::hash_numbered(2);
        CHECK(seal_blob(ByteView(blob), secret, other).error() == SealError::kArtifact);
        // Whole chunks that are left out are noticed by the name, and so is a state in the place of a file.
        testing::Chunks chunks = testing::chunks_of(sealed.bytes);
        if (chunks[0].size() > 1) {
            chunks[0].pop_back();
            const SealedFile cut = testing::assemble(chunks);
            CHECK(open_blob(cut.bytes, secret, artifact, cut.root).error() == OpenError::kContents);
        }
        chunks.push_back(chunks[0]);
        const SealedFile two = testing::assemble(chunks);
        CHECK(open_blob(two.bytes, secret, artifact, two.root).error() == OpenError::kContents);
    }
}

TEST_CASE("a state root of other types or with padding is no fault of the seal") {
    const Sealed sealed({testing::make_tensor(DType::kF32, {.rows = 32, .cols = 64}, 1)});
    const std::vector<canonical::TensorType> other{{.dtype = DType::kF32, .shape = {.rows = 64, .cols = 32}}};
    StateReader reader = sealed.reader(sealed.file.root);
    reader.types = other;
    const auto failure = open_state(MemorySource(sealed.file.bytes), reader);
    REQUIRE(!failure);
    CHECK(std::get<OpenError>(failure.error()) == OpenError::kTypes);

    // A state whose tree has a tile with padding: the tensor of 33 rows is committed to as if it had 64.
    const auto whole = testing::make_tensor(DType::kF32, {.rows = 64, .cols = 32}, 1);
    const canonical::TensorType type{.dtype = DType::kF32, .shape = {.rows = 33, .cols = 32}};
    const ListEntry entry{.type = type, .tile_root = dispute::tile_tree(whole).root()};
    const Hash256 commitment = dispute::tensor_commitment(type, entry.tile_root);
    Sealed padded = sealed;
    padded.types = {type};
    padded.artifact.name = dispute::state_root(std::span(&commitment, 1));
    Bytes tiles = canonical::tile_of(whole, 0).data;
    append(tiles, canonical::tile_of(whole, 1).data);
    const testing::Chunks chunks{
        {seal_chunk(padded.secret, padded.name(0, 0), codec::encode(entry))},
        {seal_chunk(padded.secret, padded.name(1, 0), tiles)}};
    const auto opened = padded.open(testing::assemble(chunks));
    REQUIRE(!opened);
    CHECK(std::get<OpenError>(opened.error()) == OpenError::kPadding);
}

TEST_CASE("what a disk throws passes through and all threads end") {
    struct Broken final : ByteSource {
        explicit Broken(ByteView bytes) : good(bytes) {}
        std::uint64_t size() const override { return good.size(); }
        void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
            if (offset > 50'000) {
                throw std::runtime_error("the disk failed");
            }
            good.read(offset, out);
        }
        MemorySource good;
    };
    const TaskSecret secret = testing::secret_numbered(1);
    const Bytes blob = random_bytes(200'000, 1);
    const Artifact artifact{.task = testing::hash_numbered(1), .name = crypto::sha256(blob)};
    const SealedFile sealed = sealed_blob(blob, secret, artifact);
    CHECK_THROWS_AS((void)check_sealed(Broken(sealed.bytes), {.threads = 3}), std::runtime_error);
    CHECK_THROWS_AS(
        (void)open_blob(Broken(sealed.bytes), secret, artifact, sealed.root, [](ByteView) {}, {.threads = 3}),
        std::runtime_error
    );
    CHECK_THROWS_AS(
        (void)seal_blob(
            MemorySource(blob), secret, artifact, [](ByteView) { throw std::runtime_error("the disk is full"); }
        ),
        std::runtime_error
    );
}

}  // namespace
}  // namespace assay::sealed
