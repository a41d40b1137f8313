// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/bundle.hpp>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>

namespace assay::cometbft {
namespace {

struct Bundle {
    std::uint8_t tag = kBundleTag;
    std::uint8_t version = kBundleVersion;
    std::vector<Bytes> parts;
    static constexpr auto fields() { return Fields<&Bundle::tag, &Bundle::version, &Bundle::parts>{}; }
};

}  // namespace

bool is_bundle(ByteView tx) noexcept { return !tx.empty() && tx.front() == kBundleTag; }

Bytes encode_bundle(const std::vector<std::shared_ptr<const Bytes>>& parts) {
    ASSERT(parts.size() >= 2);
    Bundle bundle;
    bundle.parts.reserve(parts.size());
    for (const auto& part : parts) {
        bundle.parts.push_back(*part);
    }
    Bytes out = codec::encode(bundle);
    ASSERT(out.size() <= kBundleBytesMax);
    return out;
}

Result<std::vector<Bytes>, BundleError> decode_bundle(ByteView bundle) {
    if (bundle.size() > kBundleBytesMax) {
        return Unexpected{BundleError::kTooLarge};
    }
    if (bundle.size() < 2 || !is_bundle(bundle)) {
        return Unexpected{BundleError::kUndecodable};
    }
    if (bundle[1] != kBundleVersion) {
        return Unexpected{BundleError::kVersion};
    }
    auto decoded = codec::decode<Bundle>(bundle);
    if (!decoded) {
        return Unexpected{BundleError::kUndecodable};
    }
    if (decoded->parts.size() < 2) {
        return Unexpected{BundleError::kTooFew};
    }
    const auto is_bad = [](const Bytes& part) { return part.empty() || is_bundle(part); };
    if (std::any_of(decoded->parts.begin(), decoded->parts.end(), is_bad)) {
        return Unexpected{BundleError::kBadPart};
    }
    return std::move(decoded->parts);
}

}  // namespace assay::cometbft
