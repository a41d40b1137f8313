// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/chunk_key.hpp>

#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/sealed/sealed_state.hpp>

namespace assay::sealed {
namespace {

using testing::hash_numbered;
using testing::secret_numbered;

/// Names that differ in one part each.
std::vector<ChunkName> different_names() {
    const ChunkName name{.task = hash_numbered(1), .artifact = hash_numbered(2), .group = 3, .chunk = 4};
    std::vector<ChunkName> names(5, name);
    names[1].task = hash_numbered(5);
    names[2].artifact = hash_numbered(5);
    names[3].group = 5;
    names[4].chunk = 5;
    return names;
}

TEST_CASE("SEA-1: a task's key is the x coordinate of a point with an even y whatever the secret was") {
    for (std::uint64_t i = 0; i < 20; ++i) {
        const auto scalar = crypto::SecretKey::from_bytes(hash_numbered(i).view()).value();
        const TaskSecret secret(scalar);
        CHECK(secret.key().data == scalar.account().data);
        CHECK(crypto::public_point(secret.scalar()).data[0] == 2);
        CHECK(TaskSecret::from_bytes(scalar.bytes()).value().key() == secret.key());
        CHECK(is_well_formed(secret.key()));
    }
    CHECK_FALSE(is_well_formed(TaskKey{}));
    CHECK(TaskSecret::from_bytes(Bytes(32)).error() == crypto::KeyError::kSecretOutOfRange);
    CHECK(TaskSecret::from_bytes(Bytes(31, 1)).error() == crypto::KeyError::kSecretOutOfRange);
}

TEST_CASE("SEA-2: a name is 72 bytes: task artifact group and chunk") {
    const ChunkName name = different_names().front();
    const Bytes encoded = codec::encode(name);
    REQUIRE(encoded.size() == 72);
    CHECK(to_hex(ByteView(encoded).last(8)) == "0300000004000000");
    CHECK(to_hex(ByteView(encoded).first(32)) == to_hex(name.task.view()));
}

TEST_CASE("SEA-3: names are hashed to points by the first counter that gives one") {
    std::set<crypto::CurvePoint> points;
    const crypto::TaggedHash hash("assay/chunk-point");
    std::uint32_t most = 0;
    for (std::uint32_t chunk = 0; chunk < 64; ++chunk) {
        ChunkName name = different_names().front();
        name.chunk = chunk;
        std::uint32_t counter = 0;
        while (!crypto::lift_x(hash(codec::encode(name), codec::encode(counter)).view())) {
            ++counter;
        }
        most = std::max(most, counter);
        CHECK(hash_to_curve(name) == *crypto::lift_x(hash(codec::encode(name), codec::encode(counter)).view()));
        points.insert(hash_to_curve(name));
    }
    CHECK(points.size() == 64);
    CHECK(most > 1);
}

TEST_CASE("SEA-4: every chunk of every artifact of every task has a key of its own") {
    std::set<crypto::AeadKey> keys;
    for (const std::uint64_t secret : {1U, 2U}) {
        for (const ChunkName& name : different_names()) {
            keys.insert(chunk_key(chunk_point(secret_numbered(secret), name)));
        }
    }
    CHECK(keys.size() == 10);
    const ChunkName name = different_names().front();
    const crypto::CurvePoint point = chunk_point(secret_numbered(1), name);
    CHECK(point == *crypto::multiply(secret_numbered(1).scalar(), hash_to_curve(name)));
    CHECK(chunk_key(point).data == crypto::TaggedHash("assay/chunk-key")(point.view()).data);
}

TEST_CASE("SEA-5: a chunk opens under its own name and secret alone") {
    const TaskSecret secret = secret_numbered(1);
    const auto names = different_names();
    const Bytes plaintext{1, 2, 3};
    const Bytes sealed = seal_chunk(secret, names.front(), plaintext);
    CHECK(sealed.size() == plaintext.size() + 16);
    CHECK(
        sealed == crypto::seal_aead(
                      chunk_key(chunk_point(secret, names.front())), Bytes(12), codec::encode(names.front()), plaintext
                  )
    );
    CHECK(open_chunk(secret, names.front(), sealed) == plaintext);
    CHECK(open_chunk_with(chunk_point(secret, names.front()), names.front(), sealed) == plaintext);
    CHECK_FALSE(open_chunk(secret_numbered(2), names.front(), sealed).has_value());
    for (std::size_t i = 1; i < names.size(); ++i) {
        CHECK_FALSE(open_chunk(secret, names[i], sealed).has_value());
        // The tag covers the name, whatever the key.
        CHECK_FALSE(open_chunk_with(chunk_point(secret, names.front()), names[i], sealed).has_value());
    }
}

TEST_CASE("SEA-6: a chunk's point is shown by one reporter for one name and one key") {
    const TaskSecret secret = secret_numbered(1);
    const auto names = different_names();
    const AccountId reporter = crypto::SecretKey::from_bytes(hash_numbered(7).view()).value().account();
    const AccountId other = crypto::SecretKey::from_bytes(hash_numbered(8).view()).value().account();
    const auto point = chunk_point(secret, names.front());
    const auto proof = prove_chunk_point(secret, names.front(), reporter, {});
    CHECK(verify_chunk_point(secret.key(), names.front(), point, proof, reporter));
    CHECK_FALSE(verify_chunk_point(secret.key(), names.front(), point, proof, other));
    CHECK_FALSE(verify_chunk_point(secret_numbered(2).key(), names.front(), point, proof, reporter));
    CHECK_FALSE(verify_chunk_point(TaskKey{}, names.front(), point, proof, reporter));
    CHECK_FALSE(verify_chunk_point(secret.key(), names.front(), hash_to_curve(names.front()), proof, reporter));
    crypto::CurvePoint negative = point;
    negative.data[0] ^= 1U;
    CHECK_FALSE(verify_chunk_point(secret.key(), names.front(), negative, proof, reporter));
    for (std::size_t i = 1; i < names.size(); ++i) {
        CHECK_FALSE(verify_chunk_point(secret.key(), names[i], point, proof, reporter));
        CHECK_FALSE(verify_chunk_point(
            secret.key(), names.front(), chunk_point(secret, names[i]),
            prove_chunk_point(secret, names[i], reporter, {}), reporter
        ));
    }
}

}  // namespace
}  // namespace assay::sealed
