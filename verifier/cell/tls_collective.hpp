// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/cell/gloo_collective.hpp>

namespace assay::cell {

/// Ranks that belong to several accounts: each link begins with both accounts' signatures.
struct LinkAccounts {
    crypto::SecretKey key;            ///< of this rank's account
    std::vector<AccountId> accounts;  ///< of each rank
};

struct TlsOptions {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string address = "127.0.0.1";          ///< the address of this machine that the other ranks connect to
    Hash256 key;                                ///< of the session: who does not have it can neither read nor take part
    std::optional<LinkAccounts> accounts{};     ///< in place of the key
    std::chrono::milliseconds connect{10'000};  ///< how long a rank waits for the others to connect
    std::chrono::milliseconds timeout{300'000};  ///< how long a rank waits for another one's message
    const std::atomic<bool>* stop = nullptr;     ///< once it is set, this rank waits for nobody any more
    /// Called by the thread that waits for other ranks, again and again, with the time that it has waited since the
    /// last call. Once it returns false the rank that is waited for counts as too slow.
    std::function<bool(std::chrono::milliseconds waited)> while_waiting{};
};

/// Connects the ranks of a session by TLS 1.3 with a pre-shared key (RFC 8446, 2.2) and ephemeral Diffie-Hellman: what
/// crosses is encrypted and authenticated, and nobody who learns the key later can read it. Each rank listens, tells
/// the others where in `words`, and connects to the ranks before it. Throws std::runtime_error if not all come in time.
///
/// Ranks of several accounts have no common key. Theirs is TLS 1.3 with certificates that nobody looks at, and then
/// each side signs, as its account (BIP-340), the channel's tls-exporter value (RFC 9266) and both accounts. A link
/// without the expected account's signature is dropped.
std::unique_ptr<engine::Collective> connect_tls(engine::SharedWords& words, const TlsOptions& options);

}  // namespace assay::cell
