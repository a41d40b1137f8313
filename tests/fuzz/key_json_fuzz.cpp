// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <core/keys/key_directory.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    try {
        const crypto::SealedKey key = crypto::decode_key_json(as_text(input), "fuzz");
        const std::string text = crypto::to_key_json(key);
        const crypto::SealedKey again = crypto::decode_key_json(text, "fuzz");
        ASSERT(
            again.account == key.account && again.ciphertext == key.ciphertext && crypto::to_key_json(again) == text
        );
    } catch (const crypto::KeyFileError&) {
    }
}

}  // namespace assay::fuzz
