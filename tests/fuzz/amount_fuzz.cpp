// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <tools/cli/amount.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    if (const auto amount = cli::decode_amount(as_text(input))) {
        const auto again = cli::decode_amount(cli::to_text(*amount));
        ASSERT(again.has_value() && *again == *amount);
    }
}

}  // namespace assay::fuzz
