// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::crypto {

/// Returns the 2,048 words of BIP-39's English list in their order, separated by single spaces.
std::string_view mnemonic_words() noexcept;

}  // namespace assay::crypto
