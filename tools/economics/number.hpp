// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Formats real numbers as text.
namespace assay::economics {

std::string fixed(double value, int decimals);
/// "0.0123", "123.4", "1.2e+06".
std::string significant(double value, int digits);

}  // namespace assay::economics
