// SPDX-License-Identifier: Apache-2.0
#include <node/api/genesis_file.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    try {
        const contracts::Genesis genesis = node::decode_genesis_json(as_text(input));
        const std::string text = node::to_genesis_json(genesis);
        ASSERT(codec::encode(node::decode_genesis_json(text)) == codec::encode(genesis));
        ASSERT(contracts::make_genesis(genesis).has_value());
    } catch (const node::GenesisFileError&) {
    }
}

}  // namespace assay::fuzz
