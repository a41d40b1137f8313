// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/trace/narrowing.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    (void)round_trip<trace::Selection>(input);
    if (const auto position = round_trip<trace::Position>(input)) {
        (void)trace::pinpoint(*position);
    }
}

}  // namespace assay::fuzz
