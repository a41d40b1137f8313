// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <client/referee/json.hpp>
#include <contracts/state/dispute.hpp>
#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/dispute/one_step_verifier.hpp>

/// The parts of a ruling that show values: what was claimed, what was recomputed, and from what.
namespace assay::referee {

/// Writes "refusal": the error's number, its rule and a sentence.
void write_refusal(JsonWriter& out, dispute::ProofError error);

/// Writes "proof", "claimed", "recomputed", "inputs" and "before". `claimed_tile` is data that somebody says was
/// claimed; it is shown only if it has the claimed hash.
void write_values(
    JsonWriter& out, const contracts::Dispute& dispute, const dispute::Proof& proof,
    const Result<dispute::Ruling, dispute::ProofError>& ruling, const std::optional<Bytes>& claimed_tile
);

}  // namespace assay::referee
