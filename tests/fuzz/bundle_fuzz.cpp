// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include <consensus/cometbft/bundle.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    auto parts = cometbft::decode_bundle(input);
    if (!parts) {
        return;
    }
    ASSERT(cometbft::is_bundle(input) && input.size() <= cometbft::kBundleBytesMax);
    ASSERT(parts->size() >= 2);
    std::vector<std::shared_ptr<const Bytes>> again;
    for (Bytes& part : *parts) {
        ASSERT(!part.empty() && !cometbft::is_bundle(part));
        again.push_back(std::make_shared<const Bytes>(std::move(part)));
    }
    ASSERT(same(cometbft::encode_bundle(again), input));
}

}  // namespace assay::fuzz
