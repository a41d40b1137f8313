// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The string in `known` with the smallest edit distance from `word`; empty if `known` is empty.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace assay
