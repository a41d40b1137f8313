// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::cell {

/// Compares two secrets. Takes as long for a wrong one of the same length as for the right one.
inline bool is_same_secret(const std::string& a, const std::string& b) {
    if (a.size() != b.size()) {
        return false;
    }
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    }
    return difference == 0;
}

}  // namespace assay::cell
