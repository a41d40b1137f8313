// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/demo/report.hpp>

/// Checks of demos that are decided by verdicts and not by a dispute.
namespace assay::demo {

/// For a solver that serves one checkpoint, or nothing, to nobody: checks that three committees found this (AVL-5),
/// that the solver was not paid and was slashed for it, that the submitter got back the escrow except for verification
/// fees, and that nobody else was slashed. Returns what is not so, in words.
std::vector<std::string> judge_withheld(const Act& act);

/// For a solver of a private task that shares no keys or wrong ones, or seals a chunk wrongly: checks that it lost its
/// stake for this and for nothing else, that it was not paid, and that nobody else was slashed. Returns what is not so,
/// in words.
std::vector<std::string> judge_keys(const Act& act);

/// For a submitter of a private task that shares other keys at first: checks that the solver that was drawn showed it,
/// that another draw followed, that nobody was slashed, and that the solver was paid. Returns what is not so, in words.
std::vector<std::string> judge_refused(const Act& act);

/// For a verifier that claims that its replays diverged: checks that the chain refused the claim (VER-17), that the
/// verifier was slashed for the verdicts it did not publish (VER-5) and the solver for the costs of attestations
/// (AVL-6), that nobody else was slashed, that a committee attested and other verifiers were drawn (AVL-4, AVL-7), and
/// that the solver was paid. Returns what is not so, in words.
std::vector<std::string> judge_invented(const Act& act);

}  // namespace assay::demo
