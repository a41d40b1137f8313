// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include <core/base/bytes.hpp>

namespace assay::relay {

/// Asks a relay whether `account` could register there (ART-23), and leaves before it has: a worker that is registered
/// stays so. `relay` is HOST:PORT. Returns why it could not, with what to do; empty if it could. Takes at most
/// `patience`, and five seconds more where a name server is slow.
std::string probe(const std::string& relay, const AccountId& account, std::chrono::milliseconds patience);

}  // namespace assay::relay
