// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <tools/cli/key_directory.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    try {
        const crypto::SealedKey key = cli::decode_key_json(as_text(input), "fuzz");
        const std::string text = cli::to_key_json(key);
        const crypto::SealedKey again = cli::decode_key_json(text, "fuzz");
        ASSERT(again.account == key.account && again.ciphertext == key.ciphertext && cli::to_key_json(again) == text);
    } catch (const cli::KeyFileError&) {
    }
}

}  // namespace assay::fuzz
