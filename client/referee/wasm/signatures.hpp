// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// The ed25519 signatures that the page has to check, since the module cannot: it has no ed25519, and WebCrypto, which
/// has, answers later.
namespace assay::referee {

struct PendingSignature {
    Bytes public_key;
    Bytes message;
    Bytes signature;
};

/// Keeps the signature for take_signatures() and returns true, as if it were valid: a verdict that rests on it counts
/// only if the page finds every kept signature valid. Returns false where core/crypto refuses one by its sizes alone.
bool note_signature(ByteView public_key, ByteView message, ByteView signature);
/// Returns what was kept since the last call, and forgets it.
std::vector<PendingSignature> take_signatures();

}  // namespace assay::referee
