// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <core/dispute/bisection.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    (void)round_trip<dispute::Selection>(input);
    if (const auto position = round_trip<dispute::Position>(input)) {
        (void)dispute::pinpoint(*position);
    }
}

}  // namespace assay::fuzz
