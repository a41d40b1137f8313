// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>

/// How the machines of a cell know each other: by the secret of the hosts, without sending it, or by accounts.
namespace assay::cell {

/// HMAC-SHA-256 of `text` with the secret, in hex.
std::string mac_of(const std::string& secret, const std::string& text);

/// A request's body, with its MAC in front: whoever reads it learns nothing about the secret, and cannot ask for
/// anything else with it. The same request may be sent again by others, which tells the lead nothing new.
std::string seal(const std::string& secret, const std::string& target, const std::string& body);
/// The body of a sealed request, or nothing if it was not sealed with this secret and for this target.
std::optional<std::string> unseal(const std::string& secret, const std::string& target, const std::string& sealed);

/// What a sealed request says, and whose it is; without a name anybody's who knows the secret.
struct Opened {
    std::string body;
    std::optional<std::string> name{};
};
/// Seals a request's body for its target.
using Seal = std::function<std::string(const std::string& target, const std::string& body)>;
/// Opens what was sealed for the target; nothing if it was not, or by none of those who may.
using OpenSeal = std::function<std::optional<Opened>(const std::string& target, const std::string& sealed)>;
std::pair<Seal, OpenSeal> by_secret(const std::string& secret);
/// Signs as an account, for what concerns `subject` alone (a task's id). Who reads it can send it again.
Seal by_account(const crypto::SecretKey& key, const Hash256& subject);
/// Lets in who of `accounts` has signed. Names are accounts in hex.
OpenSeal of_accounts(std::vector<AccountId> accounts, const Hash256& subject);

/// The key of the links between the ranks of a session.
Hash256 link_key(const std::string& secret, std::uint64_t session);

/// Takes as long for wrong texts of the right length as for the right one.
bool is_same_text(const std::string& a, const std::string& b);

}  // namespace assay::cell
