// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/crypto/curve.hpp>
#include <core/crypto/keys.hpp>

/// Private tasks: artifacts that are encrypted chunk by chunk, and evidence about them (SEA rules).
namespace assay::sealed {

/// SEA-1: the public key of a private task, x-only with an even y as BIP-340's are.
using TaskKey = FixedBytes<struct TaskKeyTag, 32>;

/// Whether the key is the x coordinate of a point. No other can be a task's.
bool is_well_formed(const TaskKey& key) noexcept;

/// SEA-1: the secret t of a private task, whose point has an even y. Wiped on destruction; never printed.
class TaskSecret {
  public:
    /// From any secret key; one with an odd y is negated.
    explicit TaskSecret(const crypto::SecretKey& secret) noexcept : secret_(crypto::with_even_y(secret)) {}
    /// From 32 big-endian bytes, as a share holds them.
    static Result<TaskSecret, crypto::KeyError> from_bytes(ByteView bytes32) noexcept;

    TaskKey key() const noexcept;
    const crypto::SecretKey& scalar() const noexcept { return secret_; }

  private:
    crypto::SecretKey secret_;
};

}  // namespace assay::sealed
