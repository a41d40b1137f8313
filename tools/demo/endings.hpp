// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/demo/report.hpp>

/// Demos that are decided by who gave a verdict, and not by a dispute.
namespace assay::demo {

/// Of a solver that serves one checkpoint to nobody, or none: whether three committees found that (AVL-5), the solver was paid
/// nothing and lost half of its bond, whoever did not pay a verifier's fee got the escrow back, and nobody else lost anything.
/// What is not so, in words.
std::vector<std::string> judge_withheld(const Act& act);

/// Of a verifier that says that its replays diverged: whether the chain refused that (VER-17), the verifier lost stake for
/// verdicts that it did not publish (VER-5) and the solver what attestations cost (AVL-6), nobody lost by anything else, a committee attested and other verifiers were drawn (AVL-4, AVL-7), and the
/// solver was paid. What is not so, in words.
std::vector<std::string> judge_invented(const Act& act);

}  // namespace assay::demo
