// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/trace/referee.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    (void)round_trip<trace::Proof>(input);
}

}  // namespace assay::fuzz
