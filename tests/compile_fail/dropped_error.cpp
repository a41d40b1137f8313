// SPDX-License-Identifier: Apache-2.0
// Error: ignoring return|Wunused-result
#include <core/crypto/address.hpp>

namespace assay {

crypto::AddressError why(std::string_view text) { return crypto::decode_address(text).error(); }

/// An error enum that nobody looks at.
void probe(std::string_view text) {
#ifdef VIOLATION
    why(text);
#else
    static_cast<void>(why(text));
#endif
}

}  // namespace assay
