// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tests/fuzz/fuzz.hpp>
#include <verifier/stores/block_index.hpp>
#include <verifier/stores/s3_answers.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    if (const auto index = stores::decode_block_index(input)) {
        const Bytes again = stores::encode_block_index(*index);
        ASSERT(std::equal(again.begin(), again.end(), input.begin(), input.end()));
    }
    // What stores answer besides is XML, read by a library: it has to refuse whatever comes.
    const std::string text(as_text(input));
    static_cast<void>(stores::decode_s3_listing(text));
    static_cast<void>(stores::decode_s3_upload_id(text));
    static_cast<void>(stores::decode_s3_uploads(text));
    static_cast<void>(stores::decode_s3_parts(text));
    static_cast<void>(stores::decode_s3_error(text));
    static_cast<void>(stores::decode_s3_time(text));
}

}  // namespace assay::fuzz
