// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <core/base/amount.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    if (const auto amount = decode_amount(as_text(input))) {
        const auto again = decode_amount(to_text(*amount));
        ASSERT(again.has_value() && *again == *amount);
    }
}

}  // namespace assay::fuzz
