// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/stores/cid.hpp>
#include <verifier/stores/location.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const std::string text(as_text(input));
    ASSERT(stores::split_locations(text).size() <= stores::kLocationsMax);
    if (const auto hash = stores::decode_cid(text)) {
        ASSERT(stores::encode_cid(*hash) == text);
    }
    const auto location = stores::decode_location(text);
    if (!location) {
        ASSERT(*stores::to_string(location.error()) != '\0');
        return;
    }
    const std::string again = stores::encode_location(*location);
    ASSERT(again.find(' ') == std::string::npos);
    const auto same = stores::decode_location(again);
    ASSERT(same && *same == *location);
}

}  // namespace assay::fuzz
