// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/evidence.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/sealed/sealed_state.hpp>

namespace assay::sealed {
namespace {

using canonical::DType;
using testing::Chunks;
using testing::Random;
using testing::Sealed;

struct Place {
    std::uint32_t group = 0;
    std::uint32_t chunk = 0;
};

std::vector<Place> places_of(const Sealed& sealed) {
    std::vector<Place> out;
    const auto layout = layout_of_state(sealed.types).value();
    for (std::uint32_t group = 0; group < layout.group_count(); ++group) {
        for (std::uint32_t chunk = 0; chunk < layout.chunk_count(group); ++chunk) {
            out.push_back({group, chunk});
        }
    }
    return out;
}

/// Something that a publisher can do to one chunk, or to the group of it, and what it is found to be.
struct Damage {
    const char* name;
    ChunkFault fault;
    std::function<void(const Sealed&, Chunks&, Place, Random&)> apply;
};

/// Seals another plaintext in the place of the right one.
void reseal(const Sealed& sealed, Chunks& chunks, Place at, const std::function<void(Bytes&)>& alter) {
    Bytes& chunk = chunks[at.group][at.chunk];
    Bytes plaintext = *open_chunk(sealed.secret, sealed.name(at.group, at.chunk), chunk);
    alter(plaintext);
    chunk = seal_chunk(sealed.secret, sealed.name(at.group, at.chunk), plaintext);
}

const std::vector<Damage>& damages() {
    static const std::vector<Damage> kDamages{
        {"a bit of the ciphertext", ChunkFault::kUnopened,
         [](const Sealed&, Chunks& chunks, Place at, Random& random) {
             Bytes& chunk = chunks[at.group][at.chunk];
             chunk[random() % chunk.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
         }},
        {"zeros", ChunkFault::kUnopened,
         [](const Sealed&, Chunks& chunks, Place at, Random&) {
             Bytes& chunk = chunks[at.group][at.chunk];
             chunk.assign(chunk.size(), 0);
         }},
        {"a tag alone", ChunkFault::kUnopened,
         [](const Sealed&, Chunks& chunks, Place at, Random&) { chunks[at.group][at.chunk].resize(16); }},
        {"another task's key", ChunkFault::kUnopened,
         [](const Sealed& sealed, Chunks& chunks, Place at, Random&) {
             Bytes& chunk = chunks[at.group][at.chunk];
             const ChunkName name = sealed.name(at.group, at.chunk);
             const Bytes plaintext = *open_chunk(sealed.secret, name, chunk);
             chunk = seal_chunk(testing::secret_numbered(99), name, plaintext);
         }},
        {"another chunk's name", ChunkFault::kUnopened,
         [](const Sealed& sealed, Chunks& chunks, Place at, Random&) {
             Bytes& chunk = chunks[at.group][at.chunk];
             const Bytes plaintext = *open_chunk(sealed.secret, sealed.name(at.group, at.chunk), chunk);
             chunk = seal_chunk(sealed.secret, sealed.name(at.group, at.chunk + 1), plaintext);
         }},
        {"another plaintext", ChunkFault::kContents,
         [](const Sealed& sealed, Chunks& chunks, Place at, Random& random) {
             reseal(sealed, chunks, at, [&random](Bytes& plaintext) {
                 plaintext[random() % plaintext.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
             });
         }},
        {"a byte less", ChunkFault::kContents,
         [](const Sealed& sealed, Chunks& chunks, Place at, Random&) {
             reseal(sealed, chunks, at, [](Bytes& plaintext) { plaintext.pop_back(); });
         }},
        {"nothing", ChunkFault::kContents,
         [](const Sealed& sealed, Chunks& chunks, Place at, Random&) {
             reseal(sealed, chunks, at, [](Bytes& plaintext) { plaintext.clear(); });
         }},
        {"one chunk more", ChunkFault::kChunks,
         [](const Sealed&, Chunks& chunks, Place at, Random&) { chunks[at.group].push_back(chunks[at.group].back()); }},
        {"one group more", ChunkFault::kGroups,
         [](const Sealed&, Chunks& chunks, Place, Random&) { chunks.push_back(chunks.back()); }},
        {"one group less", ChunkFault::kGroups,
         [](const Sealed&, Chunks& chunks, Place, Random&) { chunks.pop_back(); }},
    };
    return kDamages;
}

/// A state with two levels in a tensor, one in another, and a tensor of one tile.
Sealed three_tensors() {
    return Sealed(
        {testing::make_tensor(DType::kF32, {.rows = 170, .cols = 40}, 1),
         testing::make_tensor(DType::kBf16, {.rows = 33, .cols = 33}, 2),
         testing::make_tensor(DType::kI64, {.rows = 5, .cols = 5}, 3)},
        7
    );
}

TEST_CASE("SEA-16: evidence of impossible sizes is malformed and the largest fits a transaction") {
    const Sealed sealed = three_tensors();
    const SealedContext context = sealed.context(sealed.file.root);
    const WrongChunk right = sealed.evidence(1, 1);
    REQUIRE(is_well_formed(right));
    const auto refused = [&](const std::function<void(WrongChunk&)>& alter) {
        WrongChunk wrong = right;
        alter(wrong);
        CHECK_FALSE(is_well_formed(wrong));
        CHECK(judge(wrong, context).error() == EvidenceError::kMalformed);
    };
    refused([](WrongChunk& e) { e.tensor.reset(); });
    refused([](WrongChunk& e) { e.expected_path.resize(39); });
    refused([](WrongChunk& e) { e.tensor->path.resize(13); });
    refused([](WrongChunk& e) { e.tensor->type.shape.rows = canonical::kMaxDimension + 1; });
    refused([](WrongChunk& e) { e.tensor->type.shape.cols = 0; });
    refused([](WrongChunk& e) { e.tensor->type.dtype = static_cast<DType>(9); });
    refused([](WrongChunk& e) { e.opening.bytes.resize(kSealedChunkBytes + 1); });
    refused([](WrongChunk& e) { e.opening.chunk_path.emplace_back(); });
    WrongChunk of_list = sealed.evidence(0, 0);
    of_list.tensor = right.tensor;
    CHECK_FALSE(is_well_formed(of_list));
    for (const std::uint32_t tensors : {0U, 4'097U, ~0U}) {
        SealedContext other = context;
        other.state_tensors = tensors;
        CHECK(judge(right, other).error() == EvidenceError::kMalformed);
    }

    WrongChunk largest = right;
    largest.opening = {
        .groups = kMaxGroups,
        .group = 1,
        .chunks = 0xffff'ffff,
        .chunk = 0,
        .bytes = Bytes(kSealedChunkBytes),
        .chunk_path = std::vector<Hash256>(32),
        .group_path = std::vector<Hash256>(13)};
    largest.tensor->path.resize(12);
    largest.expected_path.resize(38);
    CHECK(is_well_formed(largest));
    CHECK(codec::encode(largest).size() == largest_evidence_bytes());
    CHECK(largest_evidence_bytes() == 19'647);
}

TEST_CASE("SEA-17: whoever seals wrongly is found at fault for each damage of each chunk") {
    Random random(21);
    std::vector<Sealed> cases{three_tensors()};
    for (std::uint64_t i = 0; i < 4; ++i) {
        cases.emplace_back(testing::random_state(random), i);
    }
    for (const Sealed& sealed : cases) {
        const Chunks right = testing::chunks_of(sealed.file.bytes);
        for (const Place at : places_of(sealed)) {
            for (const Damage& damage : damages()) {
                CAPTURE(damage.name);
                CAPTURE(at.group);
                CAPTURE(at.chunk);
                Chunks chunks = right;
                damage.apply(sealed, chunks, at, random);
                const SealedFile wrong = testing::assemble(chunks);
                const auto opened = sealed.open(wrong);
                REQUIRE(!opened);
                REQUIRE(std::holds_alternative<WrongChunk>(opened.error()));
                const auto& evidence = std::get<WrongChunk>(opened.error());
                const auto fault = judge(evidence, sealed.context(wrong.root));
                REQUIRE(fault.has_value());
                CHECK(*fault == damage.fault);
                // The first wrong chunk is named, and the evidence survives its encoding.
                const bool is_of_chunk = damage.fault == ChunkFault::kUnopened || damage.fault == ChunkFault::kContents;
                CHECK((!is_of_chunk || (evidence.opening.group == at.group && evidence.opening.chunk == at.chunk)));
                CHECK(codec::decode<WrongChunk>(codec::encode(evidence)).value() == evidence);
                CHECK(codec::encode(evidence).size() <= largest_evidence_bytes());
            }
        }
    }
}

TEST_CASE("SEA-17: a state root that nobody knows a state of is found at fault at the list") {
    Sealed sealed = three_tensors();
    const Chunks chunks = testing::chunks_of(sealed.file.bytes);
    sealed.artifact.name = testing::hash_numbered(77);
    // Sealed under the name of the other root, as somebody would who publishes a root at random.
    Chunks renamed = chunks;
    const Sealed original = three_tensors();
    for (const Place at : places_of(sealed)) {
        const auto plaintext =
            open_chunk(original.secret, original.name(at.group, at.chunk), chunks[at.group][at.chunk]);
        renamed[at.group][at.chunk] = seal_chunk(sealed.secret, sealed.name(at.group, at.chunk), *plaintext);
    }
    const SealedFile file = testing::assemble(renamed);
    const auto opened = sealed.open(file);
    REQUIRE(!opened);
    const auto& evidence = std::get<WrongChunk>(opened.error());
    CHECK(evidence.opening.group == 0);
    CHECK(judge(evidence, sealed.context(file.root)).value() == ChunkFault::kContents);
}

TEST_CASE("SEA-18: evidence about what was sealed rightly says that it is right") {
    Random random(22);
    std::vector<Sealed> cases{three_tensors()};
    for (std::uint64_t i = 0; i < 6; ++i) {
        cases.emplace_back(testing::random_state(random), i);
    }
    for (const Sealed& sealed : cases) {
        for (const Place at : places_of(sealed)) {
            const WrongChunk evidence = sealed.evidence(at.group, at.chunk);
            CHECK(judge(evidence, sealed.context(sealed.file.root)).error() == EvidenceError::kRight);
        }
    }
}

TEST_CASE("SEA-18: each lie in the evidence is refused for its own reason") {
    const Sealed sealed = three_tensors();
    const Sealed other(
        {testing::make_tensor(DType::kF32, {.rows = 170, .cols = 40}, 5),
         testing::make_tensor(DType::kBf16, {.rows = 33, .cols = 33}, 6),
         testing::make_tensor(DType::kI64, {.rows = 5, .cols = 5}, 7)},
        8
    );
    const SealedContext context = sealed.context(sealed.file.root);
    const WrongChunk right = sealed.evidence(1, 2);
    REQUIRE(judge(right, context).error() == EvidenceError::kRight);
    const auto refused = [&](EvidenceError error, const std::function<void(WrongChunk&)>& lie) {
        WrongChunk wrong = right;
        lie(wrong);
        const auto judged = judge(wrong, context);
        REQUIRE(!judged);
        CHECK(judged.error() == error);
    };
    // Another chunk than the file has.
    refused(EvidenceError::kOpening, [](WrongChunk& e) { e.opening.bytes[5] ^= 1U; });
    refused(EvidenceError::kOpening, [](WrongChunk& e) { e.opening.bytes.pop_back(); });
    refused(EvidenceError::kOpening, [](WrongChunk& e) { e.opening.chunk = 1; });
    refused(EvidenceError::kOpening, [](WrongChunk& e) { e.opening.group = 2; });
    refused(EvidenceError::kOpening, [&](WrongChunk& e) { e.opening = other.evidence(1, 2).opening; });
    // Another tensor, or this one with another type.
    refused(EvidenceError::kTensor, [](WrongChunk& e) {
        std::swap(e.tensor->type.shape.rows, e.tensor->type.shape.cols);
    });
    refused(EvidenceError::kTensor, [](WrongChunk& e) { e.tensor->type.dtype = DType::kI64; });
    refused(EvidenceError::kTensor, [](WrongChunk& e) { e.tensor->type.shape.rows = canonical::kMaxDimension; });
    refused(EvidenceError::kTensor, [](WrongChunk& e) { e.tensor->tile_root.data[0] ^= 1U; });
    refused(EvidenceError::kTensor, [](WrongChunk& e) { e.tensor->path.pop_back(); });
    refused(EvidenceError::kTensor, [&](WrongChunk& e) { e.tensor = sealed.evidence(2, 0).tensor; });
    refused(EvidenceError::kTensor, [&](WrongChunk& e) { e.tensor = other.evidence(1, 2).tensor; });
    // Another node, or the node of another level or place.
    refused(EvidenceError::kExpected, [](WrongChunk& e) { e.expected.data[0] ^= 1U; });
    refused(EvidenceError::kExpected, [](WrongChunk& e) { e.expected_path.pop_back(); });
    refused(EvidenceError::kExpected, [](WrongChunk& e) { e.expected_path[0].data[0] ^= 1U; });
    refused(EvidenceError::kExpected, [&](WrongChunk& e) {
        e.expected = sealed.evidence(1, 1).expected;
        e.expected_path = sealed.evidence(1, 1).expected_path;
    });
    refused(EvidenceError::kExpected, [](WrongChunk& e) {
        e.expected = e.tensor->tile_root;
        e.expected_path.clear();
    });
    // Another point, another key's, another chunk's, or another reporter's proof.
    refused(EvidenceError::kPoint, [](WrongChunk& e) { e.point = crypto::generator(); });
    refused(EvidenceError::kPoint, [](WrongChunk& e) { e.point = {}; });
    refused(EvidenceError::kPoint, [](WrongChunk& e) { e.proof.data[63] ^= 1U; });
    refused(EvidenceError::kPoint, [&](WrongChunk& e) {
        e.point = sealed.evidence(1, 1).point;
        e.proof = sealed.evidence(1, 1).proof;
    });
    refused(EvidenceError::kPoint, [&](WrongChunk& e) {
        const TaskSecret secret = testing::secret_numbered(99);
        e.point = chunk_point(secret, sealed.name(1, 2));
        e.proof = prove_chunk_point(secret, sealed.name(1, 2), sealed.reporter, {});
    });
    refused(EvidenceError::kPoint, [&](WrongChunk& e) {
        e.proof = prove_chunk_point(sealed.secret, sealed.name(1, 2), other.reporter, {});
    });
    // The list's top has no node of its own.
    WrongChunk top = sealed.evidence(0, 0);
    REQUIRE(judge(top, context).error() == EvidenceError::kRight);
    top.expected = testing::hash_numbered(1);
    CHECK(judge(top, context).error() == EvidenceError::kExpected);
    top = sealed.evidence(0, 0);
    top.expected_path.emplace_back();
    CHECK(judge(top, context).error() == EvidenceError::kExpected);
}

TEST_CASE("SEA-18: what somebody else saw in the mempool is of no use to it") {
    const Sealed sealed = three_tensors();
    Chunks chunks = testing::chunks_of(sealed.file.bytes);
    chunks[1][1][9] ^= 1U;
    const SealedFile wrong = testing::assemble(chunks);
    const auto failure = sealed.open(wrong);
    REQUIRE(!failure);
    const auto& evidence = std::get<WrongChunk>(failure.error());
    SealedContext context = sealed.context(wrong.root);
    CHECK(judge(evidence, context).value() == ChunkFault::kUnopened);
    context.reporter = crypto::SecretKey::from_bytes(testing::hash_numbered(3).view()).value().account();
    CHECK(judge(evidence, context).error() == EvidenceError::kPoint);
}

/// Takes each part of the evidence from one or another of several.
WrongChunk mixed(const std::vector<WrongChunk>& all, Random& random) {
    const auto any = [&]() -> const WrongChunk& { return all[random() % all.size()]; };
    WrongChunk out = any();
    const auto from_other = [&](auto WrongChunk::*part) {
        if (random() % 3 == 0) {
            out.*part = any().*part;
        }
    };
    from_other(&WrongChunk::opening);
    from_other(&WrongChunk::point);
    from_other(&WrongChunk::proof);
    from_other(&WrongChunk::tensor);
    from_other(&WrongChunk::expected);
    from_other(&WrongChunk::expected_path);
    for (std::uint32_t SealedOpening::*const part :
         {&SealedOpening::groups, &SealedOpening::group, &SealedOpening::chunks, &SealedOpening::chunk}) {
        if (random() % 6 == 0) {
            out.opening.*part = any().opening.*part;
        }
    }
    for (std::vector<Hash256> SealedOpening::*const part : {&SealedOpening::chunk_path, &SealedOpening::group_path}) {
        if (random() % 6 == 0) {
            out.opening.*part = any().opening.*part;
        }
    }
    return out;
}

TEST_CASE("SEA-19: whoever sealed the right state rightly is convicted by no evidence") {
    Random random(23);
    std::vector<Sealed> cases{three_tensors()};
    for (std::uint64_t i = 0; i < 8; ++i) {
        cases.emplace_back(testing::random_state(random), i);
    }
    std::vector<WrongChunk> foreign;
    for (const Sealed& sealed : cases) {
        const std::vector<Place> places = places_of(sealed);
        for (std::size_t i = 0; i < std::min<std::size_t>(4, places.size()); ++i) {
            const Place at = places[random() % places.size()];
            foreign.push_back(sealed.evidence(at.group, at.chunk));
        }
    }
    std::size_t reached_the_chunk = 0;
    for (const Sealed& sealed : cases) {
        const SealedContext context = sealed.context(sealed.file.root);
        std::vector<WrongChunk> all = foreign;
        for (const Place at : places_of(sealed)) {
            all.push_back(sealed.evidence(at.group, at.chunk));
            all.push_back(all.back());
        }
        for (int round = 0; round < 400; ++round) {
            const WrongChunk evidence = mixed(all, random);
            const auto judged = judge(evidence, context);
            REQUIRE_FALSE(judged.has_value());
            reached_the_chunk += judged.error() >= EvidenceError::kPoint ? 1U : 0U;
            // Single bits of what is true, and of what is mixed.
            Bytes encoded = codec::encode(round % 2 == 0 ? all[all.size() - 1 - random() % 2] : evidence);
            for (std::uint64_t flips = 1 + random() % 3; flips-- > 0;) {
                const bool is_early = random() % 2 == 0;
                encoded[random() % (is_early ? std::min<std::size_t>(60, encoded.size()) : encoded.size())] ^=
                    static_cast<std::uint8_t>(1U << random() % 8);
            }
            if (const auto decoded = codec::decode<WrongChunk>(encoded)) {
                REQUIRE_FALSE(judge(*decoded, context).has_value());
            }
        }
    }
    CHECK(reached_the_chunk > 100);
}

TEST_CASE("SEA-19: nor is a publisher whose file was sealed for another task artifact or root") {
    const Sealed sealed = three_tensors();
    const WrongChunk evidence = sealed.evidence(1, 1);
    for (const std::function<void(SealedContext&)>& alter : std::vector<std::function<void(SealedContext&)>>{
             [](SealedContext& c) { c.task = testing::hash_numbered(1); },
             [](SealedContext& c) { c.artifact = testing::hash_numbered(1); },
             [](SealedContext& c) { c.key = testing::secret_numbered(99).key(); },
             [](SealedContext& c) { c.key = {}; },
             [](SealedContext& c) { c.sealed_root = testing::hash_numbered(1); },
             [](SealedContext& c) { c.reporter = {}; },
         }) {
        SealedContext context = sealed.context(sealed.file.root);
        alter(context);
        CHECK_FALSE(judge(evidence, context).has_value());
    }
}

TEST_CASE("SEA-19: a tensor with more chunks than can be numbered convicts nobody") {
    // A state root of such a tensor can be written down, though no machine has the tensor.
    const canonical::TensorType type{
        .dtype = DType::kF32, .shape = {.rows = canonical::kMaxDimension, .cols = canonical::kMaxDimension}};
    const Hash256 tile_root = testing::hash_numbered(1);
    const Hash256 commitment = dispute::tensor_commitment(type, tile_root);
    Sealed sealed({testing::make_tensor(DType::kF32, {.rows = 1, .cols = 1}, 1)});
    sealed.artifact.name = dispute::state_root(std::span(&commitment, 1));
    WrongChunk evidence = sealed.evidence(1, 0);
    evidence.tensor = TensorEntry{.type = type, .tile_root = tile_root, .path = {}};
    CHECK(judge(evidence, sealed.context(sealed.file.root)).error() == EvidenceError::kTensor);
}

}  // namespace
}  // namespace assay::sealed
