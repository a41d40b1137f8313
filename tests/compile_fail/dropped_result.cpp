// SPDX-License-Identifier: Apache-2.0
// Error: ignoring return|Wunused-result
#include <core/base/integers.hpp>

namespace assay {

/// An error that nobody looks at.
bool probe(Amount a, Amount b) {
#ifdef VIOLATION
    checked_add(a, b);
    return true;
#else
    return checked_add(a, b).has_value();
#endif
}

}  // namespace assay
