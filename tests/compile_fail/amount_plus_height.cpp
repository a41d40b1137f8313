// SPDX-License-Identifier: Apache-2.0
// Error: no match for .operator\+.|invalid operands to binary
#include <core/base/integers.hpp>

namespace assay {

/// Money and heights do not add.
bool probe(Amount amount, Height height) {
#ifdef VIOLATION
    return (amount + height).grains != 0;
#else
    return checked_add(amount, Amount{height.value}).has_value();
#endif
}

}  // namespace assay
