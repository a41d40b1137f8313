// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/bytes.hpp>
#include <consensus/state_machine.hpp>

namespace assay::cometbft {

/// The type of our proof operators (ProofOp.type).
inline constexpr const char* kProofType = "ics23:jmt";

/// Returns a serialised ICS-23 CommitmentProof for `key` (CMT-11): an existence proof if `result` has a value, else a
/// non-existence proof from the two neighbours. The query must therefore have set with_neighbours.
std::string commitment_proof(const Bytes& key, const consensus::QueryResult& result);

}  // namespace assay::cometbft
