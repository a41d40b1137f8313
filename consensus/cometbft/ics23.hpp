// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/bytes.hpp>
#include <consensus/state_machine.hpp>

namespace assay::cometbft {

/// What a proof operator of ours is called.
inline constexpr const char* kProofType = "ics23:jmt";

/// CMT-11: a serialised ICS-23 CommitmentProof of what `result` says of `key`: existence when it has a value, else
/// non-existence between the neighbours, which the query asked for.
std::string commitment_proof(const Bytes& key, const consensus::QueryResult& result);

}  // namespace assay::cometbft
