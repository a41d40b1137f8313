// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <core/base/bytes.hpp>

/// Internal to the cell: how its machines know each other by the secret of the hosts without sending it.
namespace assay::cell {

/// HMAC-SHA-256 of `text` with the secret, in hex.
std::string mac_of(const std::string& secret, const std::string& text);

/// A request's body, with its MAC in front: whoever reads it learns nothing about the secret, and cannot ask for
/// anything else with it. The same request may be sent again by others, which tells the lead nothing new.
std::string seal(const std::string& secret, const std::string& target, const std::string& body);
/// The body of a sealed request, or nothing if it was not sealed with this secret and for this target.
std::optional<std::string> unseal(const std::string& secret, const std::string& target, const std::string& sealed);

/// The key of the links between the ranks of a session.
Hash256 link_key(const std::string& secret, std::uint64_t session);

/// Takes as long for wrong texts of the right length as for the right one.
bool is_same_text(const std::string& a, const std::string& b);

}  // namespace assay::cell
