// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Where a test finds files. One object has these paths, and no other one has a path of this checkout: so a compiler's
/// cache serves other checkouts with all the rest.
namespace assay::folders {

std::string source();  ///< the checkout
std::string build();   ///< what this test was built in, with `bin` and `tests`

}  // namespace assay::folders
