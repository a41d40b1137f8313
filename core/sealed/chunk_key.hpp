// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/crypto/aead.hpp>
#include <core/crypto/curve.hpp>
#include <core/crypto/discrete_log.hpp>
#include <core/sealed/task_key.hpp>

/// The key of each chunk of a private artifact follows from the task's, and can be shown to be right without it.
namespace assay::sealed {

/// SEA-2: a chunk, by its task, the name of the plaintext that it is a part of (a state root, or the SHA-256 of a
/// file), and its place in it. Its encoding is what a chunk's tag covers besides the ciphertext.
struct ChunkName {
    Hash256 task;
    Hash256 artifact;
    std::uint32_t group = 0;
    std::uint32_t chunk = 0;  ///< within the group
    bool operator==(const ChunkName&) const = default;
    static constexpr auto fields() {
        return Fields<&ChunkName::task, &ChunkName::artifact, &ChunkName::group, &ChunkName::chunk>{};
    }
};

/// SEA-3: the point that the name hashes to, whose logarithm nobody knows: "assay/chunk-point" over the name and a
/// counter (u32), for the first counter for which the hash is the x coordinate of a point; y is even.
crypto::CurvePoint hash_to_curve(const ChunkName& name) noexcept;
/// SEA-4: t times hash_to_curve(): what opens this chunk and no other.
crypto::CurvePoint chunk_point(const TaskSecret& secret, const ChunkName& name) noexcept;
/// SEA-4: the key of AES-256-GCM, "assay/chunk-key" over the chunk's point.
crypto::AeadKey chunk_key(const crypto::CurvePoint& point) noexcept;

/// SEA-5: the ciphertext and its tag. Of one name there must be one plaintext only, since the nonce is zero.
Bytes seal_chunk(const TaskSecret& secret, const ChunkName& name, ByteView plaintext);
/// The plaintext, or nullopt if `sealed` was not made by seal_chunk() with this secret and name.
std::optional<Bytes> open_chunk(const TaskSecret& secret, const ChunkName& name, ByteView sealed);
/// The same with the chunk's point in the place of the secret.
std::optional<Bytes> open_chunk_with(const crypto::CurvePoint& point, const ChunkName& name, ByteView sealed);

/// SEA-6: proves that `chunk_point(secret, name)` is right for the task's key. The proof is bound to `reporter`. `aux`
/// is 32 fresh random bytes (may be zero).
crypto::DlogProof prove_chunk_point(
    const TaskSecret& secret, const ChunkName& name, const AccountId& reporter, const std::array<std::uint8_t, 32>& aux
) noexcept;
/// SEA-6: whether `point` is the point of this chunk, shown by `reporter`.
bool verify_chunk_point(
    const TaskKey& key, const ChunkName& name, const crypto::CurvePoint& point, const crypto::DlogProof& proof,
    const AccountId& reporter
) noexcept;

}  // namespace assay::sealed
