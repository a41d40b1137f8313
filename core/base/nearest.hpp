// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The one of `known` with the fewest edits from `word`; empty when there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace assay
