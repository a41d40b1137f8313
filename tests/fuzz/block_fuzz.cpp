// SPDX-License-Identifier: Apache-2.0
#include <consensus/solo/block.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    if (const auto block = round_trip<solo::Block>(input)) {
        (void)solo::is_authentic(*block);
    }
}

}  // namespace assay::fuzz
