// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>

/// Ed25519 (RFC 8032), which CometBFT's validators sign with. No rule of this chain rests on it: the engine itself
/// accepts a few more encodings than this does, so it is for readers, never for consensus.
namespace assay::crypto {

/// False also for a key or signature of another length than 32 and 64 bytes.
bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept;

}  // namespace assay::crypto
