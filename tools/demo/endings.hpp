// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/demo/report.hpp>

/// Demos that are decided by who gave a verdict, and not by a dispute.
namespace assay::demo {

/// Of a solver that serves one checkpoint to nobody, or none: whether nobody gave a verdict on what it withheld, other verifiers were
/// drawn, the solver was paid nothing and lost half of its bond (AVL-9), the submitter got the escrow back, and nobody else lost
/// more than a miss that is shared (VER-5, AVL-8). What is not so, in words.
std::vector<std::string> judge_unserved(const Act& act);

/// Of a verifier that says that its replays diverged: whether the chain refused that (VER-17), the verifier lost stake for
/// verdicts that it did not publish (VER-5) and nobody lost by anything else, other verifiers were drawn (AVL-7), and the
/// solver was paid. What is not so, in words.
std::vector<std::string> judge_invented(const Act& act);

}  // namespace assay::demo
