// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/number.hpp>

#include <array>
#include <cstdio>

namespace assay::economics {

std::string fixed(double value, int decimals) {
    std::array<char, 400> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    return buffer.data();
}

std::string significant(double value, int digits) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
    return buffer.data();
}

}  // namespace assay::economics
