// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/folders.hpp>

namespace assay::folders {

std::string source() { return ASSAY_SOURCE_DIR; }
std::string build() { return ASSAY_BUILD_DIR; }

}  // namespace assay::folders
