// SPDX-License-Identifier: Apache-2.0
// Error: could not convert|no matching function
#include <core/base/integers.hpp>

namespace assay {

bool is_fee(Amount amount) { return amount.grains != 0; }

/// A bare number is no amount of money.
bool probe(std::uint64_t grains) {
#ifdef VIOLATION
    return is_fee(grains);
#else
    return is_fee(Amount{grains});
#endif
}

}  // namespace assay
