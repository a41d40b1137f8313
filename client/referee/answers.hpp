// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay::referee {

/// The answer to a question that cannot be answered: `{"ok":false,"error":...}`.
std::string make_error(std::string_view problem);

}  // namespace assay::referee
