// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <core/base/bytes.hpp>

/// A verifier of ICS-23 commitment proofs under the chain's proof specification, as anybody would write one from
/// docs/protocol/cometbft.md: it shares nothing with what makes the proofs but the messages.
namespace assay::cometbft::test {

/// Whether `proof` shows that under `root` the key has this value; nullopt: that it is not there.
bool ics23_accepts(
    const std::string& root, const std::string& key, const std::optional<std::string>& value, const std::string& proof
);

}  // namespace assay::cometbft::test
