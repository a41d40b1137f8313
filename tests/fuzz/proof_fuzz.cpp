// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <core/dispute/one_step_verifier.hpp>

namespace assay::fuzz {

void run(ByteView input) { (void)round_trip<dispute::Proof>(input); }

}  // namespace assay::fuzz
